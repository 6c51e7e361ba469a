/** Finds variables that look like settings and are none: a mistyped setting would have no effect, and nobody would know. */
import { suggest, suggestNearMiss } from '../../domain/suggest.js';
import { type Environment, readVariable } from './setting.js';
import { SETTINGS } from './settings.js';

const prefix = 'CALLER_STATS_';

/** Not read by the server: the variables of clients, commands and tests, which may have the same environment. */
const others = /^((ADMIN_|RECORDING_|READING_|SOURCE_)?KEY|URL|PROJECT|(TEST|LAW)_.*)$/;

/** What Kubernetes and old links of Docker set in containers beside a service that is called caller-stats. */
const serviceName = /^(SERVICE_(HOST|PORT.*)|PORT_\d+_.*|NAME|ENV_.*)$/;
const serviceAddress = /^(tcp|udp|sctp):\/\//;

const variables: readonly string[] = Object.values(SETTINGS).map(({ environment }) => environment);

/** A sentence for each, with the variable that was probably meant. */
export function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => readVariable(env, name) !== undefined && !variables.includes(name))
    .sort()
    .flatMap((name) => {
      const rest = withoutPrefix(name);
      const meant = rest === undefined ? likeUnprefixed(env, name) : variableFor(rest);
      const isOthers = rest === undefined ? meant === undefined : isOfOthers(rest, env[name]);
      if (isOthers) return [];
      const help = meant === undefined ? 'see caller-stats serve --help' : `did you mean ${meant}?`;
      return [`${name}: is not a setting and has no effect; ${help}`];
    });
}

/** In capitals, what follows the prefix, which may be mistyped: `LOG_LEVEL` of `Callerstat-log-level`. */
function withoutPrefix(name: string): string | undefined {
  const words = name.toUpperCase().split(/[_.-]+/);
  const known = ['CALLERSTATS'];
  const length = [1, 2].find((count) => {
    const start = words.slice(0, count).join('');
    return known.includes(start) || suggestNearMiss(start, known, 2) !== undefined;
  });
  return length === undefined || length === words.length ? undefined : words.slice(length).join('_');
}

function isOfOthers(rest: string, value = ''): boolean {
  return others.test(rest) || serviceName.test(rest) || (rest === 'PORT' && serviceAddress.test(value));
}

/** The variable without prefix that this is like, unless it is set. Short names are like too many others. */
function likeUnprefixed(env: Environment, name: string): string | undefined {
  return variables
    .filter((one) => !one.startsWith(prefix) && readVariable(env, one) === undefined)
    .find((one) => suggestNearMiss(name, [one], Math.floor(one.length / 6)) !== undefined);
}

/** The variable whose name, or whose flag, is like this. Those of some settings have no prefix. */
function variableFor(name: string): string | undefined {
  const names = new Map(
    Object.values(SETTINGS).flatMap(({ flag, environment }) => [
      [environment.replace(prefix, ''), environment],
      [flag.replaceAll('-', '_').toUpperCase(), environment],
    ]),
  );
  const near = names.has(name) ? name : suggest(name.toLowerCase(), [...names.keys()]);
  return near === undefined ? undefined : names.get(near);
}
