import type { Actor } from '../domain/people/audit.js';
import type { Clock } from '../domain/time/clock.js';

/** Whoever runs a command now. Operators are not told apart: the operating system does that. */
export function atCommandLine(clock: Clock): Actor {
  return { name: 'command line', address: null, at: clock.now() };
}
