/** Lists of merge requests: a project of many beside one of few, and beside a handler with one statement. */
import path from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { besideRow, type Row, ratesRow } from './table.ts';

const headers = { 'private-token': token };
const turns = Number(process.env.BENCH_TURNS ?? 60);
/** BENCH_MERGE_REQUESTS makes the project smaller, to see whether it runs. */
const many = Number(process.env.BENCH_MERGE_REQUESTS ?? 100_000);
const few = many / 100;

/** Fifty of the merge requests of a project of $2, by their number. */
const isOneOfFifty = (number: string) => `${number} % greatest($2::int / 50, 1) = 0`;

interface Seed {
  /** Connection string of the instance's database. */
  database: string;
  large: number;
  small: number;
}

/**
 * Of a project ($1), so many ($2) as if written one after the other: each has up to three of twenty labels, one in three is open. Fifty are drafts, reviewed,
 * approved and for another branch, so that these lists have full pages in a project of any size.
 */
const rows = [
  `insert into labels (project_id, title, color) select $1, 'label-' || n, '#6699cc' from generate_series(0, 19) n where $2::int > 0`,
  `insert into merge_requests (project_id, iid, source_project_id, source_branch, target_branch, title, description, author_id, state, created_at, updated_at)
   select $1, n, $1, 'topic-' || n, case when ${isOneOfFifty('n')} then 'stable' else 'main' end, case when ${isOneOfFifty('n')} then 'Draft: ' else '' end || 'Change ' || n, 'Why it is changed', 1, (array['opened', 'merged', 'closed'])[1 + n % 3],
          now() - interval '1 minute' * ($2::int - n), now() - interval '1 minute' * (abs(hashint8(n)) % 1000000)
     from generate_series(1, $2::int) n`,
  `insert into merge_request_labels (merge_request_id, label_id)
   select distinct merge_requests.id, labels.id
     from merge_requests cross join generate_series(0, 2) drawn
     join labels on labels.project_id = $1 and labels.title = 'label-' || abs(hashint8(merge_requests.iid * 3 + drawn)) % 20
    where merge_requests.project_id = $1 and $2::int > 0`,
  `insert into merge_request_reviewers (merge_request_id, user_id)
   select id, 1 from merge_requests where project_id = $1 and ${isOneOfFifty('iid')}`,
  `insert into merge_request_approvals (merge_request_id, user_id)
   select id, 1 from merge_requests where project_id = $1 and ${isOneOfFifty('iid')}`,
  `insert into merge_request_assignees (merge_request_id, user_id)
   select id, 1 from merge_requests where project_id = $1 and iid % 2 = 0 and $2::int > 0`,
];

/** Without triggers: they would look each reference up, and count for each row. */
async function fill(client: pg.Client, projects: readonly (readonly [id: number, count: number])[]): Promise<void> {
  await client.query('set session_replication_role = replica');
  for (const project of projects) for (const statement of rows) await client.query(statement, [...project]);
  await client.query('set session_replication_role = origin');
  await client.query('vacuum analyze');
}

async function seed({ api, data }: Instance): Promise<Seed> {
  const projects: number[] = [];
  for (const name of ['many', 'few']) projects.push((await api.post('/projects', { name })).body.id);
  const [large, small] = projects as [number, number];
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await fill(client, [
      [large, many],
      [small, few],
    ]);
  } finally {
    await client.end();
    await stop();
  }
  return { database: connectionString, large, small };
}

/** A page of rows with everything that a reply shows. */
const statement = ({ large }: Seed, filter: string) => `
  select merge_requests.*, 'http://localhost/' || projects.full_path || '/-/merge_requests/' || iid as web_url,
         json_build_object('id', author.id, 'username', author.username, 'name', author.name, 'state', author.state) as author,
         array(select json_build_object('id', users.id, 'username', users.username, 'name', users.name, 'state', users.state)
                 from merge_request_assignees join users on users.id = user_id where merge_request_id = merge_requests.id order by users.id) as assignees,
         array(select json_build_object('id', users.id, 'username', users.username, 'name', users.name, 'state', users.state)
                 from merge_request_reviewers join users on users.id = user_id where merge_request_id = merge_requests.id order by users.id) as reviewers,
         array(select title from merge_request_labels join labels on labels.id = label_id where merge_request_id = merge_requests.id order by title) as labels,
         (select row_to_json(milestones) from milestones where milestones.id = merge_requests.milestone_id) as milestone,
         json_build_object('short', '!' || iid, 'relative', '!' || iid, 'full', projects.full_path || '!' || iid) as references,
         json_build_object('time_estimate', time_estimate_s, 'total_time_spent', total_time_spent_s) as time_stats,
         json_build_object('count', task_count, 'completed_count', completed_task_count) as task_completion_status
    from merge_requests join projects on projects.id = project_id left join users author on author.id = author_id
   where project_id = ${large} ${filter} order by merge_requests.created_at desc, merge_requests.id desc limit 20`;

/** By the id of the label, which is looked up once: with a join, PostgreSQL makes a hash of all labelled merge requests. */
const bears = (title: string, { large }: Seed) => `
  exists (select from merge_request_labels where merge_request_id = merge_requests.id
                                             and label_id = (select id from labels where project_id = ${large} and title = '${title}'))`;

const listOf = (project: number) => `/projects/${project}/merge_requests`;

async function rates(instance: Instance, seeded: Seed): Promise<Row[]> {
  const rate = async (operation: string, query: string, filter: string) => {
    const product = await load(instance, [`/api/v4${listOf(seeded.large)}${query}`], { headers });
    const limit = await withLimit('statement', [seeded.database, statement(seeded, filter)], (bare) =>
      load(bare, ['/all']),
    );
    return ratesRow(operation, product, limit, '≥ 40 %');
  };
  const labelled = `?labels=label-1&${encodeURIComponent('not[labels]')}=label-2`;
  return [
    await rate(`GET 20 of ${many} merge requests`, '', ''),
    await rate(
      'GET 20, with a label and without one',
      labelled,
      `and ${bears('label-1', seeded)} and not ${bears('label-2', seeded)}`,
    ),
  ];
}

async function compared({ api }: Instance, { large, small }: Seed): Promise<Row[]> {
  const ways: [string, Record<string, unknown>][] = [
    ['newest', {}],
    ['state and label', { state: 'opened', labels: 'label-1' }],
    ['label and not[labels]', { labels: 'label-1', not: { labels: 'label-2' } }],
    ['by updated_at', { order_by: 'updated_at' }],
    ['by title', { order_by: 'title', sort: 'asc' }],
    ['by merged_at', { order_by: 'merged_at', state: 'merged' }],
    ['assignee', { assignee_id: 1 }],
    ['no assignee, opened', { assignee_id: 'None', state: 'opened' }],
    ['any reviewer', { reviewer_id: 'Any' }],
    ['draft', { draft: true }],
    ['approved', { approved: 'yes' }],
    ['any milestone', { milestone: 'Any' }],
    ['target_branch', { target_branch: 'stable' }],
    ['source_branch', { source_branch: 'topic-7' }],
    ['search', { search: 'Change 77' }],
    ['search that finds nothing', { search: 'walrus' }],
    ['created_before', { created_before: new Date(Date.now() - 3_600_000).toISOString() }],
  ];
  const found: Row[] = [];
  for (const [name, query] of ways) {
    const ask = (project: number) => async () => {
      const { status } = await api.get(listOf(project), query);
      if (status !== 200) throw new Error(`${listOf(project)} answers ${status}`);
    };
    const asking = [ask(large), ask(small)];
    await inTurn(10, ...asking);
    const [most, least] = await inTurn(turns, ...asking);
    found.push(besideRow(`merge requests: ${name}`, most!, least!, 'P90 ≤ 1.5×'));
  }
  return found;
}

/**
 * Seeds an instance, and measures.
 * @param folder for its data
 */
export async function measureMergeRequestLists(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'merge-request-lists'));
  try {
    const seeded = await seed(instance);
    return [...(await rates(instance, seeded)), ...(await compared(instance, seeded))];
  } finally {
    await instance.stop();
  }
}
