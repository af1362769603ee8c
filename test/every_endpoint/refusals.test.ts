/** What holds for every endpoint, called over HTTP: refusals change nothing, and nothing that is sent makes the server fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { endpoints } from '../../src/areas/index.ts';
import { type AnyEndpoint, ApiError, isReading, servesAnonymous } from '../../src/http/index.ts';
import { addThings, paramsFor } from '../support/access_table.ts';
import { oddValues } from '../support/odd_values.ts';
import { seedOfToday } from '../support/random.ts';
import { sendRaw } from '../support/raw_request.ts';
import { someOf } from '../support/runs.ts';
import { type World, world } from '../support/world.ts';

/** Everything in the database but the notes on when a token was last used. */
async function everything({ db }: World): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db);
  const contents: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ hash: string }>`
      select md5(coalesce(string_agg(line, '\n' order by line), '')) as hash
        from (select (to_jsonb(t) - 'last_used_at' - 'last_used_ips' - 'last_activity_on')::text as line from ${sql.table(name)} t) lines`.execute(
      db,
    );
    contents[name] = rows[0]!.hash;
  }
  return contents;
}

const fill = (path: string, value: (name: string, index: number) => string) => {
  let index = 0;
  return path.replaceAll(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(value(name, index++)));
};

/** A path to what is there, as far as the world has it. */
const pathTo = ({ path }: AnyEndpoint, { project, group, people }: World) =>
  fill(path, (name, index) => {
    const first = { projects: project.id, groups: group.id, users: people.guest.id, namespaces: group.id }[
      path.split('/')[1]!
    ];
    return index === 0 ? String(first ?? 1) : name === 'user_id' ? String(people.guest.id) : '1';
  });

const writes = endpoints.filter(({ method }) => method !== 'GET' && method !== 'HEAD');

/** What those without a token have to say to be served, by operation. */
const openWith: Record<string, Record<string, string>> = {
  listUsers: { username: 'x' },
  listIssues: { scope: 'all' },
  countIssues: { scope: 'all' },
  listMergeRequests: { scope: 'all' },
};

test('anonymous callers are served as the endpoints declare', async () => {
  const here = await world();
  const things = await addThings(here);
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const wrong: string[] = [];
  for (const endpoint of endpoints.filter(({ method }) => isReading(method))) {
    const params = paramsFor(endpoint.path, here, things);
    const path = fill(endpoint.path, (name) => params[name]!);
    const { status } = await here.as('anonymous').get(path, openWith[endpoint.operation]);
    const isServed = status !== 401 && status !== 403;
    if (isServed !== servesAnonymous(endpoint)) wrong.push(`${endpoint.method} ${endpoint.path} answers ${status}`);
  }
  assert.deepEqual(wrong, []);
});

test('refused requests change nothing', async () => {
  const here = await world();
  // What signing in notes is noted before the first look.
  for (const persona of ['guest', 'outsider'] as const) await here.as(persona).get('/version');
  const before = await everything(here);
  for (const endpoint of writes) {
    const path = pathTo(endpoint, here);
    const method = endpoint.method.toLowerCase() as 'post' | 'put' | 'patch' | 'delete';
    const { status, body } = await here.as('anonymous')[method](path, { name: 'x', branch: 'main', title: 'x' });
    assert.equal(status, 401, `anonymous ${endpoint.method} ${endpoint.path}`);
    assert.equal(typeof body.message, 'string');
    if (!/^\/(projects|groups)\/:id\//.test(endpoint.path)) continue;
    const stranger = await here.as('outsider')[method](path, {});
    const refusal = ['admin', 'project:admin'].includes(endpoint.access.rule) ? 403 : 404;
    assert.equal(stranger.status, refusal, `a stranger ${endpoint.method} ${endpoint.path}`);
  }
  assert.deepEqual(await everything(here), before);
});

/** Few, since they are sent to every endpoint, and of each kind that is read apart: the fuzz test draws from all. An endpoint gets a sixth of them, another each day. */
const paths = [
  '0',
  '-1',
  'abc',
  '99999999999999999999',
  'a/b',
  '..',
  '\0',
  "'; drop table users;--",
  '%',
  '\u{1f333}',
  ' ',
  'x'.repeat(3000),
];
const values = [...oddValues.filter((value) => typeof value !== 'number'), -1, 1e300, 'x\0y', '\ud800'];

const areSentences = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** A sentence as boards send it. */
const isError = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'error' in message && typeof message.error === 'string';

/** Whether it is a sentence, a list of sentences, or lists of reasons by field. */
const isMessage = (message: unknown): boolean =>
  typeof message === 'string' ||
  areSentences(message) ||
  isError(message) ||
  (typeof message === 'object' && !Array.isArray(message) && Object.values(message ?? [0]).every(areSentences));

test('the message of a refusal is a sentence, a list of sentences, or reasons by field', () => {
  const refusals = [
    new ApiError(400, { message: 'x is missing' }),
    new ApiError(400, { message: { title: ["can't be blank"] } }),
    new ApiError(409, { message: ['x is there already'] }),
    new ApiError(400, { message: { error: 'x is missing' } }),
    // @ts-expect-error one reason, not a list of them
    new ApiError(400, { message: { title: 'is missing' } }),
    // @ts-expect-error no message
    new ApiError(400, { error: 'x is missing' }),
  ];
  assert.deepEqual(
    refusals.map(({ body }) => isMessage(body.message)),
    [true, true, true, true, false, false],
  );
});

test('no path and no parameter causes a server error', async () => {
  const here = await world();
  const { token } = await here.person({ admin: true });
  for (const [index, endpoint] of endpoints.entries()) {
    const inputs = Object.keys(endpoint.input ?? {});
    const sixth = index + seedOfToday();
    const odd_paths = new Set([
      ...someOf(paths, sixth).map((odd) => fill(endpoint.path, () => odd)),
      ...someOf(paths, sixth + 1).map((odd) =>
        fill(endpoint.path, (_, index) => (index === 0 ? String(here.project.id) : odd)),
      ),
      pathTo(endpoint, here),
    ]);
    const attempts = [
      ...[...odd_paths].map((path) => ({ path, body: {} })),
      ...(inputs.length > 0 ? someOf(values, sixth) : []).map((value) => ({
        path: pathTo(endpoint, here),
        body: Object.fromEntries(inputs.map((name) => [name, value])),
      })),
    ];
    const attempt = async ({ path, body }: (typeof attempts)[number]) => {
      const headers = { 'private-token': token, 'content-type': 'application/json' };
      const { status, text } = await sendRaw(here.url, {
        method: endpoint.method,
        path,
        headers,
        body: JSON.stringify(body),
      });
      assert.ok(
        status < 500,
        `${endpoint.method} ${path} ${JSON.stringify(body).slice(0, 200)} answers ${status} ${text}`,
      );
      if (status >= 400 && endpoint.method !== 'HEAD')
        assert.ok(isMessage(JSON.parse(text).message), `${endpoint.method} ${path} answers ${text}`);
    };
    // Reading requests do not disturb others.
    if (endpoint.method === 'GET' || endpoint.method === 'HEAD') await Promise.all(attempts.map(attempt));
    else for (const each of attempts) await attempt(each);
  }
});
