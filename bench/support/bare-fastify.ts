/** The framework with one constant route: the baseline for the memory of the service. */
import fastify from 'fastify';

const app = fastify();
app.get('/', async () => ({ web: 1, api: 2, other: 3, total: 6 }));
process.stdout.write(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
