/** The limit of a list: a bare handler that runs one SQL statement and sends its rows. */
import Fastify from 'fastify';
import { CompiledQuery } from 'kysely';
import { connect } from '../../src/db/index.ts';

const [connectionString, statement] = process.argv.slice(2);
const db = connect({ connectionString: connectionString!, max: 20 });
const app = Fastify();
app.get('/', async () => (await db.executeQuery(CompiledQuery.raw(statement!))).rows);
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
