/** The limit of what git computes: a bare handler that starts git once for each request, and sends what it prints. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import Fastify from 'fastify';

const run = promisify(execFile);
const args = process.argv.slice(2);
const app = Fastify();
app.get('/', async () => (await run('git', args)).stdout);
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
