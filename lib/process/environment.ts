/** What a child that is not ours gets of this process's environment. */

/** What any program needs. No secret has one of these names. */
const NEEDED =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']

/** Whom programs and their package runners trust: files of certificates. */
const AUTHORITIES = [
  'CURL_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'NPM_CONFIG_CAFILE',
  'npm_config_cafile',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
]

const PROXIES = ['ALL_PROXY', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
])

/**
 * The environment of a child: what any program needs, whom it trusts, the proxy it goes through
 * unless its address holds a user or a password, and what is named.
 */
export function environmentOf(named: Record<string, string> = {}): Record<string, string> {
  const passed = [...NEEDED, ...AUTHORITIES, ...PROXIES].flatMap((name) => {
    const value = process.env[name]
    // A user or a password in an address stands before an @, with a scheme before them or without.
    const secret = PROXIES.includes(name) && value?.includes('@')
    return value === undefined || secret ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ...named }
}
