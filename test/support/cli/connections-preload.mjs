/** Loaded into a server before its own code: prints a line for each connection that it opens, and for each name that it looks up. */
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

function tell(object, method, what) {
  const original = object[method];
  object[method] = function (...given) {
    const [to] = given.flat();
    const told = typeof to === 'object' ? `${to?.host ?? to?.path}:${to?.port}` : String(to);
    // A server also looks up the address that it listens on.
    if (net.isIP(told) === 0) process.stderr.write(`opens ${what} ${told}\n`);
    return original.apply(this, given);
  };
}

tell(net.Socket.prototype, 'connect', 'a connection to');
tell(dgram.Socket.prototype, 'send', 'a datagram');
for (const method of ['lookup', 'resolve']) {
  tell(dns, method, 'a name');
  tell(dns.promises, method, 'a name');
}
syncBuiltinESMExports();
