/** Finds variables that look like settings and are none: a mistyped setting would have no effect, and nobody would know. */
import { suggest } from '../../domain/suggest.js';
import { type Environment, readVariable } from './setting.js';
import { SETTINGS } from './settings.js';

const prefix = 'CALLER_STATS_';

/** Not read by the server: the variables of clients, commands and tests, which may have the same environment. */
const others = /^CALLER_STATS_((ADMIN_|RECORDING_|READING_|SOURCE_)?KEY|URL|PROJECT|(TEST|LAW)_.*)$/;

/** What Kubernetes and old links of Docker set in containers beside a service that is called caller-stats. */
const serviceName = /^CALLER_STATS_(SERVICE_(HOST|PORT.*)|PORT_\d+_.*|NAME|ENV_.*)$/;
const serviceAddress = /^(tcp|udp|sctp):\/\//;

/** A sentence for each, with the variable that was probably meant. */
export function unknownVariables(env: Environment): string[] {
  const known = new Set(Object.values(SETTINGS).map(({ environment }) => environment));
  const isUnknown = (name: string): boolean =>
    name.startsWith(prefix) &&
    readVariable(env, name) !== undefined &&
    !known.has(name) &&
    !others.test(name) &&
    !serviceName.test(name) &&
    !(name === `${prefix}PORT` && serviceAddress.test(env[name] ?? ''));
  return Object.keys(env)
    .filter(isUnknown)
    .sort()
    .map((name) => {
      const meant = variableFor(name.slice(prefix.length));
      const help = meant === undefined ? 'see caller-stats serve --help' : `did you mean ${meant}?`;
      return `${name}: is not a setting and has no effect; ${help}`;
    });
}

/** The variable whose name, or whose flag, is like this. Those of some settings have no prefix. */
function variableFor(name: string): string | undefined {
  const variables = new Map(
    Object.values(SETTINGS).flatMap(({ flag, environment }) => [
      [environment.replace(prefix, ''), environment],
      [flag.replaceAll('-', '_').toUpperCase(), environment],
    ]),
  );
  const near = variables.has(name) ? name : suggest(name.toLowerCase(), [...variables.keys()]);
  return near === undefined ? undefined : variables.get(near);
}
