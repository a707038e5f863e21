/** Loaded before Stripe's own server: what it sends to api.stripe.com goes to the stand-in at `STRIPE_STAND_IN`. */
const http = require('node:http')
const https = require('node:https')

const { hostname, port } = new URL(process.env.STRIPE_STAND_IN)
https.request = (options) => {
  if (options.host !== 'api.stripe.com') throw new Error(`no network for ${options.host}`)
  const { method, path, headers } = options
  const request = http.request({ hostname, port, method, path, headers })
  // Stripe's client writes its body once a secure connection stands.
  request.once('socket', (socket) =>
    socket.once('connect', () => socket.emit('secureConnect')),
  )
  return request
}
