/** Events: the list of a project with a million beside one with ten thousand, and beside a handler with one statement. */
import path from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { besideRow, type Row, ratesRow } from './table.ts';

const headers = { 'private-token': token };
const turns = Number(process.env.BENCH_TURNS ?? 60);
const many = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const few = many / 100;
/** Other projects, with half as many events together as the large one: neither all events nor all issues are its. */
const others = 20;

interface EventSeed {
  /** Connection string of the instance's database. */
  database: string;
  large: number;
  small: number;
  /** An event in the middle of those of the large project. */
  middle: number;
}

/** Issues, comments on them and pushes by turns, as if written one after the other; each issue has a hundred events. */
const rows = [
  `insert into issues (project_id, iid, title, state, author_id, relative_position)
   select $1, n, 'Issue ' || n, 'opened', 1, n::bigint << 20 from generate_series(1, $2::int / 100) n`,
  `insert into notes (issue_id, body, author_id)
   select id, 'Text', 1 from issues, generate_series(1, 10) where project_id = $1 and $2::int > 0`,
  `insert into events (project_id, author_id, action, target_type, target_id, created_at)
   select $1, 1, case when turn < 4 then 'commented' when turn < 8 then (array['created', 'closed', 'reopened'])[1 + turn % 3] else 'pushed' end,
          case when turn < 4 then 'Note' when turn < 8 then 'Issue' end, case when turn < 4 then note_id when turn < 8 then issue_id end,
          now() - interval '1 minute' * ($2::int - number * 10 - turn)
     from (select notes.id as note_id, issue_id, row_number() over (order by notes.id) as number
             from notes join issues on issues.id = issue_id where issues.project_id = $1) spread, generate_series(0, 9) turn order by number, turn`,
];

/** Without triggers: they would count each comment in its issue, and look each reference up. */
async function fill(client: pg.Client, projects: readonly (readonly [id: number, events: number])[]): Promise<void> {
  await client.query('set session_replication_role = replica');
  for (const project of projects) for (const statement of rows) await client.query(statement, [...project]);
  await client.query(`insert into push_event_payloads (event_id, commit_count, action, ref_type, ref, commit_title)
    select id, 1, 'pushed', 'branch', 'main', 'A commit' from events where action = 'pushed'`);
  await client.query('set session_replication_role = origin');
  await client.query('vacuum analyze');
}

async function seedEvents({ api, data }: Instance): Promise<EventSeed> {
  const projects: number[] = [];
  for (let number = 0; number < others + 2; number++)
    projects.push((await api.post('/projects', { name: `project ${number}`, visibility: 'public' })).body.id);
  const [large, small, ...rest] = projects as [number, number, ...number[]];
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await fill(client, [[large, many], [small, few], ...rest.map((id) => [id, many / 2 / others] as const)]);
    const middle = 'select id from events where project_id = $1 order by id offset $2 limit 1';
    const { rows: found } = await client.query(middle, [large, many / 2]);
    return { database: connectionString, large, small, middle: Number(found[0].id) };
  } finally {
    await client.end();
    await stop();
  }
}

/** A page of what everyone may see in a public project, with what a reply shows. */
const statement = ({ large }: EventSeed, filter: string) => `
  select events.*, coalesce(issues.title, discussed.title) as target_title, issues.iid as target_iid, row_to_json(push) as push_data,
         case when notes.id is not null then json_build_object('id', notes.id, 'body', notes.body, 'created_at', notes.created_at) end as note,
         json_build_object('id', author.id, 'username', author.username, 'name', author.name, 'state', author.state) as author
    from (select * from events where project_id = ${large} ${filter} order by id desc limit 20) events
    join users author on author.id = events.author_id
    left join issues on events.target_type = 'Issue' and issues.id = target_id
    left join notes on events.target_type = 'Note' and notes.id = target_id
    left join issues discussed on discussed.id = notes.issue_id
    left join push_event_payloads push on push.event_id = events.id
   order by events.id desc`;

const listOf = (project: number) => `/projects/${project}/events`;

async function rates(instance: Instance, seed: EventSeed): Promise<Row[]> {
  const rate = async (operation: string, query: string, filter: string) => {
    const product = await load(instance, [`/api/v4${listOf(seed.large)}${query}`], { headers });
    const limit = await withLimit('statement', [seed.database, statement(seed, filter)], (bare) =>
      load(bare, ['/all']),
    );
    return ratesRow(operation, product, limit, '≥ 40 %');
  };
  return [
    await rate('GET 20 events of a project', '', ''),
    await rate('GET 20 events, by target_type', '?target_type=issue', "and target_type = 'Issue'"),
  ];
}

type Query = Record<string, unknown>;

async function compared({ api }: Instance, { large, small, middle }: EventSeed): Promise<Row[]> {
  const ways: [string, Query | ((count: number) => Query)][] = [
    ['newest', {}],
    ['oldest', { sort: 'asc' }],
    ['action', { action: 'closed' }],
    ['target_type', { target_type: 'note' }],
    ['of which there are none', { action: 'approved' }],
    ['page 400', { page: 400 }],
    ['before a day', { before: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10) }],
    ['before half of them', (count) => ({ before: new Date(Date.now() - count * 30_000).toISOString().slice(0, 10) })],
    ['after a day', { after: new Date(Date.now() - 259_200_000).toISOString().slice(0, 10) }],
    ['after_id', { after_id: middle }],
  ];
  const found: Row[] = [];
  for (const [name, query] of ways) {
    const ask = async (project: number, count: number) => {
      const { status } = await api.get(listOf(project), typeof query === 'function' ? query(count) : query);
      if (status !== 200) throw new Error(`${listOf(project)} answers ${status}`);
    };
    const [most, least] = await inTurn(
      turns,
      () => ask(large, many),
      () => ask(small, few),
    );
    found.push(besideRow(`events: ${name}`, most!, least!, 'P90 ≤ 1.5×'));
  }
  return found;
}

/**
 * Seeds an instance, and measures.
 * @param folder for its data
 */
export async function measureEvents(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'events'));
  try {
    const seed = await seedEvents(instance);
    return [...(await rates(instance, seed)), ...(await compared(instance, seed))];
  } finally {
    await instance.stop();
  }
}
