/** The settings of how a server is watched: its log, and its metrics. */
import { failure, success } from '../../domain/result.js';
import { integer, setting } from './setting.js';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const logFormats = ['auto', 'json', 'pretty'] as const;

function oneOf<T extends string>(values: readonly T[]) {
  return (text: string) => {
    const value = values.find((one) => one === text);
    return value === undefined ? failure(`is none of ${values.join(', ')}`) : success(value);
  };
}

export const OPERATE_SETTINGS = {
  logLevel: setting({
    flag: 'log-level',
    environment: 'CALLER_STATS_LOG_LEVEL',
    fallback: 'info',
    placeholder: 'level',
    description: `how much to log: ${logLevels.join(', ')}; each request from debug on`,
    parse: oneOf(logLevels),
  }),
  logFormat: setting({
    flag: 'log-format',
    environment: 'CALLER_STATS_LOG_FORMAT',
    fallback: 'auto',
    placeholder: 'format',
    description: 'json, pretty for people, or auto: pretty on a terminal',
    parse: oneOf(logFormats),
  }),
  metricsPort: setting<number | null>({
    flag: 'metrics-port',
    environment: 'CALLER_STATS_METRICS_PORT',
    fallback: 'none',
    placeholder: 'number',
    description: 'port of /metrics, for Prometheus; 0 for any free one, none for no metrics',
    parse: (text) => (text === 'none' ? success(null) : integer(0, 65_535)(text)),
  }),
  metricsHost: setting({
    flag: 'metrics-host',
    environment: 'CALLER_STATS_METRICS_HOST',
    fallback: '127.0.0.1',
    placeholder: 'address',
    description:
      'address of /metrics; there is no key to it, so choose one that only your Prometheus reaches',
    parse: host,
  }),
};

/** An address to listen on. */
export function host(text: string) {
  return /^[^\s/]+$/.test(text) ? success(text) : failure('is not an address or a host name');
}
