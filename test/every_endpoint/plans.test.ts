/** What holds for everything that needs a plan, as the declarations say: it is refused, ignored or left out below its plan, and there from its plan on. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { endpoints } from '../../src/areas/index.ts';
import { type AnyEndpoint, isReading, type Marked, marks, type Plan, reaches } from '../../src/http/index.ts';
import { addThings, paramsFor, type Things } from '../support/access_table.ts';
import type { Answer } from '../support/client.ts';
import { changePlan } from '../support/licenses.ts';
import { type World, world } from '../support/world.ts';

const plans: readonly Plan[] = ['free', 'premium', 'ultimate'];

interface Schema extends Marked {
  type?: string;
  title?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

let here: World;
let things: Things;

before(async () => {
  here = await world({});
  things = await addThings(here);
  await furnish();
});

/** Gives what replies show a value where it may have none. */
async function furnish(): Promise<void> {
  const { db, group, project, people, as } = here;
  const issue = await db
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  const other = { project_id: project.id, iid: 2, title: 'Another issue' };
  const { id } = await db.insertInto('issues').values(other).returning('id').executeTakeFirstOrThrow();
  await db.insertInto('issue_links').values({ source_id: id, target_id: issue.id }).execute();
  const inEpic = [id, issue.id].map((issue_id) => ({ epic_id: things.epic_id, issue_id, relative_position: issue_id }));
  await db.insertInto('epic_issues').values(inEpic).execute();
  const place = { group_id: group.id, title: 'Spring' };
  const cadence = await db.insertInto('iteration_cadences').values(place).returning('id').executeTakeFirstOrThrow();
  const iteration = await db
    .insertInto('iterations')
    .values({ ...place, cadence_id: cadence.id, iid: 1, sequence: 1, start_date: '2030-01-01', due_date: '2030-01-14' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.updateTable('issues').set({ iteration_id: iteration.id }).where('project_id', '=', project.id).execute();
  const role = await db
    .insertInto('member_roles')
    .values({ name: 'Reader', base_access_level: 10, read_code: true })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.updateTable('members').set({ member_role_id: role.id }).where('user_id', '=', people.guest.id).execute();
  const owner = as('owner');
  const url = `/projects/${project.id}`;
  const commit = { branch: 'main', content: 'a', commit_message: 'Add a' };
  assert.equal((await owner.post(`${url}/repository/files/a`, commit)).status, 201);
  const protection = { name: 'stable', allowed_to_push: [{ user_id: people.developer.id }] };
  assert.equal((await owner.post(`${url}/protected_branches`, protection)).status, 201);
}

function call(endpoint: AnyEndpoint, parameters: Record<string, unknown> = {}): Promise<Answer> {
  const values = paramsFor(endpoint.path, here, things);
  const path = endpoint.path.replaceAll(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(values[name]!));
  const method = endpoint.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
  const client = here.as('admin');
  return method === 'get' ? client.get(`${path}?${queryOf(parameters)}`) : client[method](path, parameters);
}

/** Parameters as a query, however deep they are. */
const queryOf = (value: unknown, name = ''): string =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([key, inner]) => queryOf(inner, name === '' ? key : `${name}[${key}]`))
        .join('&')
    : `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;

const nameOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`;

interface Parameter {
  endpoint: AnyEndpoint;
  needs: Plan;
  /** As refusals name it. */
  name: string;
  /** Parameters with an invalid value. */
  unreadable: Record<string, unknown>;
  refusal: string;
}

/** What stands in a list or beside null, and else the schema itself. */
const insideOf = (schema: Schema): Schema[] =>
  (schema.anyOf ?? [schema]).flatMap((kind) => (kind.items ? insideOf(kind.items) : [kind]));

const isHash = (schema: Schema) => schema.type === 'object';

function parametersOf(endpoint: AnyEndpoint, properties: Record<string, Schema>, wrap: Wrap = asItIs): Parameter[] {
  return Object.entries(properties).flatMap(([member, schema]) => {
    const { plan: needs, refusal = 'is invalid' } = schema[marks] ?? {};
    const [name, unreadable] = wrap(member, insideOf(schema).some(isHash) && !schema.items ? 'text' : { no: 'value' });
    const own = needs === undefined ? [] : [{ endpoint, needs, name, unreadable, refusal }];
    const inside = isHash(schema)
      ? parametersOf(endpoint, schema.properties ?? {}, (inner, value) => {
          const [, given] = wrap(member, { [inner]: value });
          return [`${name}[${inner}]`, given];
        })
      : [];
    return [...own, ...inside];
  });
}
type Wrap = (name: string, value: unknown) => [name: string, parameters: Record<string, unknown>];
const asItIs: Wrap = (name, value) => [name, { [name]: value }];

test('a parameter of a plan is refused below that plan when it is alone, and read from it up', async () => {
  const gated = endpoints.flatMap((endpoint) =>
    parametersOf(endpoint, (endpoint.input ?? {}) as Record<string, Schema>),
  );
  assert.ok(gated.length > 40);
  const wrong: string[] = [];
  for (const plan of plans) {
    await changePlan(here, plan);
    for (const { endpoint, needs, name, unreadable, refusal } of gated) {
      if (!reaches(plan, endpoint.plan)) continue;
      const { status, body } = await call(endpoint, unreadable);
      const texts = reaches(plan, needs)
        ? [`${name} is invalid`, `${name} ${refusal}`]
        : [`${name} needs the ${needs === 'premium' ? 'Premium' : 'Ultimate'} plan`];
      if (status !== 400 || !texts.some((text) => String(body.message).includes(text)))
        wrong.push(`${name} of ${nameOf(endpoint)} on ${plan}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Parameters that any plan has, and that are not in the path. */
const freeOf = ({ path, input = {} }: AnyEndpoint): string[] =>
  Object.entries(input as Record<string, Schema>).flatMap(([name, schema]) =>
    schema[marks]?.plan === undefined && !path.includes(`:${name}`) ? [name] : [],
  );

test('a parameter above the plan is ignored next to others in a change, and refused as a filter', async () => {
  await changePlan(here, 'free');
  const gated = endpoints
    .filter((endpoint) => reaches('free', endpoint.plan) && freeOf(endpoint).length > 0)
    .flatMap((endpoint) => parametersOf(endpoint, (endpoint.input ?? {}) as Record<string, Schema>));
  assert.ok(
    gated.some(({ endpoint }) => isReading(endpoint.method)) &&
      gated.some(({ endpoint }) => !isReading(endpoint.method)),
  );
  const wrong: string[] = [];
  for (const { endpoint, name, unreadable } of gated) {
    // What cannot be read keeps a change from being made.
    const other = Object.fromEntries(freeOf(endpoint).map((free) => [free, { no: 'value' }]));
    const { status, body } = await call(endpoint, { ...other, ...unreadable });
    const isRefused = String(body.message).includes(`${name} needs the`);
    if (status !== 400 || isRefused !== isReading(endpoint.method))
      wrong.push(`${name} of ${nameOf(endpoint)}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  }
  await changePlan(here, 'ultimate');
  assert.deepEqual(wrong, []);
});

/** The members of a schema that need a plan, by the resource that they are in, with what `value` has of them. */
function* gatedMembers(
  schema: Schema,
  value: unknown,
  at = '',
): Generator<{ field: string; needs: Plan; isThere: boolean }> {
  for (const kind of insideOf(schema)) {
    const values = Array.isArray(value) ? value : [value];
    for (const [name, member] of Object.entries(kind.properties ?? {})) {
      const field = `${kind.title ?? at}.${name}`;
      const holders = values.filter((one) => typeof one === 'object' && one !== null);
      const needs = member[marks]?.plan;
      if (needs !== undefined) yield { field, needs, isThere: holders.some((one) => name in one) };
      if (holders.length === 0) yield* gatedMembers(member, undefined, field);
      for (const one of holders) yield* gatedMembers(member, one[name], field);
    }
  }
}

/** Endpoints that say nothing without being told what to look at. */
const received: Record<string, Record<string, unknown>> = {
  ref: { ref: 'main' },
  scope: { scope: 'all' },
  level: { level: 'custom' },
};

test('a field of a plan is omitted below that plan, and sent from it up', async () => {
  const withFields = endpoints.filter(
    ({ returns }) => returns.schema && [...gatedMembers(returns.schema as Schema, undefined)].length > 0,
  );
  // Where only endpoints show it that need a higher plan than the field, theirs counts.
  const fields = new Map<string, Plan>();
  for (const { returns, plan } of withFields)
    for (const { field, needs } of gatedMembers(returns.schema as Schema, undefined)) {
      const shown = reaches(needs, plan) ? needs : plan!;
      const known = fields.get(field);
      if (known === undefined || !reaches(shown, known)) fields.set(field, shown);
    }
  assert.ok(fields.size > 10);
  const wrong: string[] = [];
  for (const plan of plans) {
    await changePlan(here, plan);
    const seen = new Set<string>();
    for (const endpoint of withFields.filter(({ method }) => method === 'GET' || method === 'PUT')) {
      const parameters = Object.assign({}, ...Object.keys(endpoint.input ?? {}).map((name) => received[name]));
      const { status, body } = await call(endpoint, parameters);
      if (status !== 200) continue;
      for (const { field, isThere } of gatedMembers(endpoint.returns.schema as Schema, body))
        if (isThere) seen.add(field);
    }
    for (const [field, needs] of fields)
      if (seen.has(field) !== reaches(plan, needs))
        wrong.push(`${field} on ${plan}: ${seen.has(field) ? 'there' : 'left out'}`);
  }
  assert.deepEqual(wrong, []);
});

/** What removes comes last, and what is inside before what it is in. */
const inOrder = (all: readonly AnyEndpoint[]) => [
  ...all.filter(({ method }) => method !== 'DELETE'),
  ...all.filter(({ method }) => method === 'DELETE').sort((a, b) => b.path.length - a.path.length),
];

test('an endpoint of a plan is refused below that plan, and available from it up', async () => {
  const gated = inOrder(endpoints.filter(({ plan }) => plan !== undefined));
  assert.ok(gated.length > 40);
  const wrong: string[] = [];
  // Ultimate last, because its tests delete shared data.
  for (const plan of plans) {
    await changePlan(here, plan);
    for (const endpoint of gated) {
      const { status, body } = await call(endpoint);
      const text = `403 Forbidden - This needs the ${endpoint.plan === 'premium' ? 'Premium' : 'Ultimate'} plan`;
      const isRefused = status === 403 && body.message === text;
      if (isRefused === reaches(plan, endpoint.plan))
        wrong.push(`${nameOf(endpoint)} on ${plan}: ${status} ${JSON.stringify(body)}`);
    }
  }
  assert.deepEqual(wrong, []);
});
