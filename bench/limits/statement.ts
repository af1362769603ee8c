/** The limit of what comes from the database: a bare handler that runs one SQL statement, with the value in the path if it takes one, and sends its rows. */
import Fastify from 'fastify';
import { CompiledQuery } from 'kysely';
import { connect } from '../../src/db/index.ts';

const [connectionString, statement] = process.argv.slice(2);
const db = connect({ connectionString: connectionString!, max: 20 });
const takesValue = statement!.includes('$1');
const app = Fastify();
app.get<{ Params: { value: string } }>('/:value', async ({ params }) => {
  const { rows } = await db.executeQuery(CompiledQuery.raw(statement!, takesValue ? [params.value] : []));
  return rows;
});
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
