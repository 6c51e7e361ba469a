import type { FastifyInstance } from 'fastify';

/** A line of the tree that the framework prints: indentation, rest of the path, methods. */
const LINE = /^(?<indent>(?:│ {3}| {4})*)[├└]── (?<rest>\S+)(?: \((?<methods>[A-Z, -]+)\))?$/;

/** Every path that the framework routes, such as `/v1/analytics/:projectId/…`, with its methods. */
export function routesOf(app: FastifyInstance): ReadonlyMap<string, readonly string[]> {
  const routes = new Map<string, string[]>();
  for (const method of app.supportedMethods) {
    const above: string[] = [];
    for (const line of app.printRoutes({ method: method as 'GET' }).split('\n')) {
      const { indent = '', rest = '', methods } = LINE.exec(line)?.groups ?? {};
      if (rest === '' && line.includes('──'))
        throw new Error(`cannot parse this line of the routes: ${line}`);
      if (rest === '') continue;
      above.length = indent.length / 4;
      const path = [...above, rest].join('');
      above.push(rest);
      if (methods === undefined) continue;
      routes.set(path, [...(routes.get(path) ?? []), method]);
    }
  }
  return routes;
}
