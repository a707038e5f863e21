/** The body of a thread that ends before it is ready. */
throw new Error('expected another machine')
