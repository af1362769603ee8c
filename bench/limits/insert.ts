/** The limit of what is stored: a bare handler that runs one SQL statement with the body as its value. */
import Fastify from 'fastify';
import { CompiledQuery } from 'kysely';
import { connect } from '../../src/db/index.ts';

const [connectionString, statement] = process.argv.slice(2);
const db = connect({ connectionString: connectionString!, max: 20 });
const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post('/', async ({ body }) => {
  await db.executeQuery(CompiledQuery.raw(statement!, [body]));
  return {};
});
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
