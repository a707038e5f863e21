/** Registers OpenTelemetry in a process that is started with `--import` of this: spans go to OTLP_TEST_URL over HTTP, in batches. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = new OTLPTraceExporter({ url: process.env['OTLP_TEST_URL'] ?? '' })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] }),
)
