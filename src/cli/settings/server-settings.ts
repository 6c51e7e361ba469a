/** The settings of `serve`, including those that are made of several settings. */
import type { SingleSignOn } from '../../auth/names.js';
import { quote } from '../../domain/result.js';
import type { TraceProtocol, TracingOptions } from '../../observability/tracing/tracing.js';
import { allOrProblems, UsageError } from '../io.js';
import { type Environment, readVariable, webAddress } from './setting.js';
import { readSettings, SERVER_SETTING_NAMES, type Values } from './settings.js';

type ServerValues = Values<(typeof SERVER_SETTING_NAMES)[number]>;

export interface ServerSettings extends ServerValues {
  /** Undefined without single sign-on. */
  readonly singleSignOn: SingleSignOn | undefined;
  /** Undefined if no traces are sent. */
  readonly tracing: Pick<TracingOptions, 'protocol'> | undefined;
}

/** Reads all settings of `serve`. Throws `UsageError` with every problem. */
export function readServerSettings(flags: object, env: Environment): ServerSettings {
  const [values, tracing] = allOrProblems(
    () => readSettings(SERVER_SETTING_NAMES, flags, env),
    () => readTracingSettings(env),
  );
  return { ...values, singleSignOn: toSingleSignOn(values), tracing };
}

/** Throws `UsageError` if only some of the settings of single sign-on are given. */
function toSingleSignOn(values: ServerValues): SingleSignOn | undefined {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcSecondFactor, publicUrl } = values;
  if (oidcIssuer === null && oidcClientId === null && oidcClientSecret === null) return undefined;
  const needed = {
    '--oidc-issuer': oidcIssuer,
    '--oidc-client-id': oidcClientId,
    CALLER_STATS_OIDC_CLIENT_SECRET: oidcClientSecret,
    '--public-url': publicUrl,
  };
  const missing = Object.entries(needed)
    .filter(([, value]) => value === null)
    .map(([name]) => `${name}: is missing; single sign-on needs it`);
  if (oidcIssuer === null || oidcClientId === null || oidcClientSecret === null || missing.length > 0)
    throw new UsageError(missing);
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    secondFactor: oidcSecondFactor,
  };
}

/** OpenTelemetry's own variables. The first endpoint is for all signals; the first protocol that is set applies. */
const TRACE_ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const TRACE_PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

const PROTOCOLS: readonly TraceProtocol[] = ['http/protobuf', 'http/json'];

/** Returns undefined if tracing is off. Throws `UsageError` for an invalid address or an unknown protocol. */
export function readTracingSettings(env: Environment): ServerSettings['tracing'] {
  const endpoints = TRACE_ENDPOINTS.filter((name) => readVariable(env, name) !== undefined);
  const off = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (off || endpoints.length === 0) return undefined;
  // The message does not show the address, which may contain a password.
  const problems = endpoints
    .filter((name) => !webAddress(env[name] ?? '').ok)
    .map((name) => `${name}: is not an address that begins with https:// or http://`);
  const source = TRACE_PROTOCOLS.find((name) => readVariable(env, name) !== undefined);
  const given = source === undefined ? PROTOCOLS[0] : env[source];
  const protocol = PROTOCOLS.find((one) => one === given);
  if (protocol === undefined)
    problems.push(`${source}: ${quote(given ?? '')} is not supported; choose ${PROTOCOLS.join(' or ')}`);
  if (protocol === undefined || problems.length > 0) throw new UsageError(problems);
  return { protocol };
}
