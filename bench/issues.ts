/** Issues: lists in a database of a million beside one of ten thousand, writing, and long discussions. */
import path from 'node:path';
import { type Instance, startInstance, token, withLimit } from './instance.ts';
import { measureIssueLists } from './issue_lists.ts';
import { type IssueSeed, seedIssues } from './issue_seed.ts';
import { inTurn, load } from './measure.ts';
import { besideRow, ms, plainRow, type Row, ratesRow } from './table.ts';

const headers = { 'private-token': token };
const turns = Number(process.env.BENCH_TURNS ?? 60);

/** The rows of issues with everything that a reply shows, in the one statement that is best for it. */
const issueStatement = ({ project }: IssueSeed, rest: string) => `
  select issues.*, projects.full_path::text, 'http://localhost/' || projects.full_path || '/-/issues/' || iid as web_url,
         json_build_object('id', author.id, 'username', author.username, 'name', author.name, 'state', author.state) as author,
         array(select json_build_object('id', users.id, 'username', users.username, 'name', users.name, 'state', users.state)
                 from issue_assignees join users on users.id = user_id where issue_id = issues.id order by users.id) as assignees,
         array(select title from issue_labels join labels on labels.id = label_id where issue_id = issues.id order by title) as labels,
         (select row_to_json(milestones) from milestones where milestones.id = issues.milestone_id) as milestone,
         json_build_object('short', '#' || iid, 'relative', '#' || iid, 'full', projects.full_path || '#' || iid) as references,
         json_build_object('time_estimate', time_estimate_s, 'total_time_spent', total_time_spent_s) as time_stats,
         json_build_object('count', task_count, 'completed_count', completed_task_count) as task_completion_status,
         json_build_object('self', 'http://localhost/api/v4/projects/' || project_id || '/issues/' || iid) as links
    from issues join projects on projects.id = project_id left join users author on author.id = author_id
   where project_id = ${project} ${rest}`;

/** The rows that a new issue is. */
const insertStatement = ({ project }: IssueSeed) => `
  with number as (update internal_ids set last_value = last_value + 1 where project_id = ${project} and usage = 'issues' returning last_value),
       added as (insert into issues (project_id, iid, title, description, author_id) select ${project}, last_value, 'A new issue', 'With a description.', 1 from number
                 returning id, iid),
       event as (insert into events (project_id, author_id, action, target_type, target_id) select ${project}, 1, 'created', 'Issue', id from added),
       agent as (insert into issue_user_agents (issue_id, user_agent, ip_address) select id, 'bench', '127.0.0.1' from added)
  select * from added`;

/** As many issues are younger in the large instance as in the small one. */
const sixtyDaysAgo = new Date(Date.now() - 60 * 86_400_000).toISOString();

/** Of which there are many each, but none together. */
const openUnassigned = { scope: 'all', state: 'opened', labels: 'label-1', assignee_id: 'None' };

/** Ways to ask. The common word is in a fifth of all issues, the other in a few of a thousand: what is asked of the small instance then has as many replies. */
const lists = ({
  project,
  group,
}: IssueSeed): [string, string, Record<string, unknown>, Record<string, unknown>?][] => {
  const own = `/projects/${project}/issues`;
  return [
    ['state and label', own, { state: 'opened', labels: 'label-1' }],
    ['not[labels]', own, { not: { labels: 'label-2' } }],
    ['assignee', own, { assignee_username: 'worker-7' }],
    ['milestone', own, { milestone: 'milestone-3' }],
    ['search of a rare word', own, { search: 'ohel' }, { search: 'cfcd' }],
    ['due_date', own, { due_date: 'month' }],
    ['by updated_at', own, { order_by: 'updated_at' }],
    ['by priority', own, { order_by: 'priority' }],
    ['by relative_position', own, { order_by: 'relative_position', sort: 'asc' }],
    ['by popularity', own, { order_by: 'popularity' }],
    ['group of 50 projects', `/groups/${group}/issues`, {}],
    ['all, page 400', '/issues', { scope: 'all', page: 400 }],
    ['all by title', '/issues', { scope: 'all', order_by: 'title' }],
    ['all with a label, by title', '/issues', { scope: 'all', order_by: 'title', labels: 'label-1' }],
    ['all with a label, by priority', '/issues', { scope: 'all', order_by: 'priority', labels: 'label-1' }],
    ['all with a label that half of the projects lack', '/issues', { scope: 'all', labels: 'shared-3' }],
    ['all by title, page 500', '/issues', { scope: 'all', order_by: 'title', page: 500 }],
    ['all with a label, page 60', '/issues', { scope: 'all', labels: 'label-1', page: 60 }],
    ['all with a milestone, by weight', '/issues', { scope: 'all', milestone: 'Any', order_by: 'weight' }],
    [
      'all without a milestone, by milestone',
      '/issues',
      { scope: 'all', milestone: 'None', order_by: 'milestone_due' },
    ],
    ['all after a day, by title', '/issues', { scope: 'all', created_after: sixtyDaysAgo, order_by: 'title' }],
    ['incidents of all, of which there are none', '/issues', { scope: 'all', issue_type: 'incident' }],
    ['all without a label, by weight', '/issues', { scope: 'all', order_by: 'weight', not: { labels: 'label-2' } }],
    // In the seed, each open issue has an assignee.
    ['none of all that are open, have a label and no assignee', '/issues', { ...openUnassigned, order_by: 'priority' }],
    ['search of a common word in all', '/issues', { scope: 'all', search: 'cfcd' }],
    ['search of a common word in a group', `/groups/${group}/issues`, { search: 'cfcd' }],
    ['confidential', own, { confidential: true }],
  ];
};

async function compareLists(large: Instance, small: Instance, seed: IssueSeed): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, address, parameters, ofSmall = parameters] of lists(seed)) {
    const ask = async (instance: Instance) => {
      const { status } = await instance.api.get(address, instance === large ? parameters : ofSmall);
      if (status !== 200) throw new Error(`${address} answers ${status}`);
    };
    await inTurn(
      10,
      () => ask(large),
      () => ask(small),
    );
    const [many, few] = await inTurn(
      turns,
      () => ask(large),
      () => ask(small),
    );
    rows.push(besideRow(`issues: ${name}`, many!, few!, 'P90 ≤ 25 ms, ≤ 1.5×'));
  }
  return rows;
}

const issuesOf = ({ project }: IssueSeed) => `/api/v4/projects/${project}/issues`;

const newestFirst = 'order by issues.created_at desc, issues.id desc limit 20';
const bearing =
  'and exists (select from issue_labels join labels on labels.id = label_id where issue_id = issues.id and title = $1)';

/** Reading beside a handler with one statement; `values` are in the addresses of both. */
async function readingRates(instance: Instance, seed: IssueSeed): Promise<Row[]> {
  const numbers = Array.from({ length: 200 }, (_, index) => String(1 + index * 7));
  const labels = Array.from({ length: 10 }, (_, index) => `label-${index}`);
  const rate = async (operation: string, address: (value: string) => string, values: string[], rest: string) => {
    const product = await load(instance, values.map(address), { headers });
    const limit = await withLimit('statement', [seed.database, issueStatement(seed, rest)], (bare) =>
      load(
        bare,
        values.map((value) => `/${value}`),
      ),
    );
    return ratesRow(operation, product, limit, '≥ 40 %');
  };
  return [
    await rate('GET an issue', (iid) => `${issuesOf(seed)}/${iid}`, numbers, 'and iid = $1'),
    await rate('GET a list of 20 issues', () => issuesOf(seed), ['all'], newestFirst),
    await rate(
      'GET a list by label',
      (label) => `${issuesOf(seed)}?labels=${label}`,
      labels,
      `${bearing} ${newestFirst}`,
    ),
  ];
}

async function creationRate(instance: Instance, seed: IssueSeed): Promise<Row[]> {
  const asJson = { ...headers, 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'A new issue', description: 'With a description.' });
  const create = { method: 'POST', headers: asJson, body } as const;
  const product = await load(instance, [issuesOf(seed)], create);
  const limit = await withLimit('statement', [seed.database, insertStatement(seed)], (bare) => load(bare, ['/new']));
  const crowd = await load(instance, [issuesOf(seed)], { ...create, connections: 64 });
  return [
    ratesRow('POST an issue', product, limit, '≥ 25 %'),
    plainRow('POST an issue, 64 connections', `${Math.round(crowd.rate!)}/s`, 'no error', crowd),
  ];
}

async function longDiscussion({ api }: Instance, { project, discussed }: IssueSeed): Promise<Row> {
  const ask = () => api.get(`/projects/${project}/issues/${discussed}/discussions`, { per_page: 100 });
  await inTurn(10, ask);
  const [measured] = await inTurn(turns, ask);
  return plainRow('discussions, 100 of 1,000 notes', ms(measured!.p90_ms), 'P90 ≤ 15 ms', measured);
}

/** A board of a project with about 5,000 open issues. */
async function boardLists({ api }: Instance, { project }: IssueSeed): Promise<Row[]> {
  const at = `/projects/${project}/boards`;
  const { body: board } = await api.post(at, { name: 'Kanban' });
  const { body: labels } = await api.get(`/projects/${project}/labels`, { search: 'label-1', per_page: 1 });
  const { body: list } = await api.post(`${at}/${board.id}/lists`, { label_id: labels[0].id });
  const rows: Row[] = [];
  for (const list_id of [list.id, 'open']) {
    const ask = () => api.get(`${at}/${board.id}/issues`, { list_id });
    await inTurn(10, ask);
    const [measured] = await inTurn(turns, ask);
    const name = list_id === 'open' ? 'those in no list' : 'one list';
    rows.push(plainRow(`board of 5,000 open issues: ${name}`, ms(measured!.p90_ms), 'P90 ≤ 60 ms', measured));
  }
  return rows;
}

/** Epics have the dates of the milestones of all issues below them, which are found when epics are read. */
async function inheritedDates({ api }: Instance, { group, otherGroup }: IssueSeed): Promise<Row> {
  const asking = [group, otherGroup].map((id) => () => api.get(`/groups/${id}/epics`));
  await inTurn(10, ...asking);
  const [inheriting, plain] = await inTurn(turns, ...asking);
  return besideRow('epics: dates of 5,000 issues below 20', inheriting!, plain!, 'P90 ≤ 50 ms');
}

/**
 * Seeds two instances, and measures.
 * @param folder for their data
 */
export async function measureIssues(folder: string): Promise<Row[]> {
  const large = await startInstance(path.join(folder, 'large'));
  const small = await startInstance(path.join(folder, 'small'));
  try {
    const seed = await seedIssues(large, 1_000_000);
    await seedIssues(small, 10_000);
    return [
      ...(await readingRates(large, seed)),
      ...(await compareLists(large, small, seed)),
      ...(await measureIssueLists(large)),
      await longDiscussion(large, seed),
      ...(await boardLists(large, seed)),
      await inheritedDates(large, seed),
      ...(await creationRate(large, seed)),
    ];
  } finally {
    await large.stop();
    await small.stop();
  }
}
