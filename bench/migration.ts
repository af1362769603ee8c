/** Migrations: how fast the issues of a large project leave, how fast issues and merge requests arrive, a whole group beside a plain copy, and what others notice. */

import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { seeded, sendSteadily } from '../test/campaign/load_mix.ts';
import { fill } from './fill.ts';
import { copyPlainly, type Planted, plantGroup } from './group_copy.ts';
import { type Instance, startInstance, token } from './instance.ts';
import { measuredFrom, p95_ms, timeOf } from './measure.ts';
import { ms, plainRow, type Row, timesRow } from './table.ts';

/** How many issues leave, and how many arrive, with three notes each; and how many merge requests arrive. */
const leaving = Number(process.env.BENCH_ISSUES ?? 1_000_000);
const arriving = { issues: 20_000, merge_requests: 2_000 };

const seconds = Number(process.env.BENCH_SECONDS ?? 8);
const rate = 50;

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;

async function projectOf({ api }: Instance, name: string): Promise<number> {
  const { status, body } = await api.post('/projects', { name, path: name, initialize_with_readme: true });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

/** Issues as in a used project: half of them with a label, and with as many notes each as given. */
const issues = (project: number, count: number, notes: number) => `
  insert into labels (project_id, title, color) select ${project}, 'label-' || n, '#6699cc' from generate_series(1, 10) n;
  insert into issues (project_id, iid, title, description, author_id, relative_position, user_notes_count)
    select ${project}, n, 'Issue ' || n || ' ' || md5(n::text), 'Seen in ' || md5((n * 7)::text) || ' and ' || md5((n * 11)::text), 1, n * 1024, ${notes}
      from generate_series(1, ${count}) n;
  insert into internal_ids (project_id, usage, last_value) values (${project}, 'issues', ${count});
  insert into issue_labels (issue_id, label_id)
    select issues.id, labels.id from issues join labels on labels.project_id = ${project} and labels.title = 'label-' || (issues.iid % 10 + 1)
     where issues.project_id = ${project} and issues.iid % 2 = 0;
  insert into events (project_id, author_id, action, target_type, target_id) select project_id, 1, 'created', 'Issue', id from issues where project_id = ${project};
  insert into notes (issue_id, body, author_id) select id, 'A comment on ' || md5(id::text), 1 from issues, generate_series(1, ${notes}) where project_id = ${project};
  insert into open_issue_counts (project_id, opened, confidential) values (${project}, ${count}, 0);`;

/** Merge requests that were merged long ago, each with a version and two notes. */
const mergeRequests = (project: number, count: number, sha: string) => `
  insert into merge_requests (project_id, source_project_id, iid, source_branch, target_branch, title, description, author_id, state, merged_at, merge_user_id,
                              merge_commit_sha, head_commit_id, merge_status)
    select ${project}, ${project}, n, 'topic-' || n, 'main', 'Merge ' || n, 'What changes: ' || md5(n::text), 1, 'merged', now(), 1, '${sha}', '${sha}', 'can_be_merged'
      from generate_series(1, ${count}) n;
  insert into internal_ids (project_id, usage, last_value) values (${project}, 'merge_requests', ${count});
  insert into merge_request_versions (merge_request_id, head_commit_sha, base_commit_sha, start_commit_sha, files_count, commits_count)
    select id, '${sha}', '${sha}', '${sha}', 0, 0 from merge_requests where project_id = ${project};
  update merge_requests set latest_version_id = merge_request_versions.id from merge_request_versions
   where merge_request_id = merge_requests.id and merge_requests.project_id = ${project};
  insert into notes (merge_request_id, body, author_id) select id, 'A comment on ' || md5(id::text), 1 from merge_requests, generate_series(1, 2) where project_id = ${project};`;

const tables = ['issues', 'notes', 'events', 'issue_labels', 'merge_requests', 'merge_request_versions'];

/** Asks again and again until an answer is there. */
async function answered<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await setTimeout(100);
  }
}

/** Reading the memory of processes holds them up. */
const between_ms = 1000;

/** The same. @returns the most memory meanwhile as well */
async function watched<T>(
  instance: Instance,
  ask: () => Promise<T | undefined>,
): Promise<{ answer: T; most_bytes: number }> {
  let most_bytes = 0;
  let next = performance.now();
  const answer = await answered(async () => {
    if (performance.now() >= next) {
      most_bytes = Math.max(most_bytes, await instance.allocated_bytes());
      next = performance.now() + between_ms;
    }
    return ask();
  });
  return { answer, most_bytes };
}

interface Status {
  relation: string;
  status: number;
  total_objects_count: number;
}

async function exported({ api }: Instance, project: number, relation: string): Promise<Status | undefined> {
  const { body } = await api.get(`/projects/${project}/export_relations/status`, { relation });
  const [state] = [body].flat() as Status[];
  if (state?.status === -1) throw new Error('the export has failed');
  return state?.status === 1 ? state : undefined;
}

async function exporting(instance: Instance, project: number): Promise<Row[]> {
  const idle_bytes = await instance.allocated_bytes();
  const began = performance.now();
  await instance.api.post(`/projects/${project}/export_relations`, {});
  const { answer, most_bytes } = await watched(instance, () => exported(instance, project, 'issues'));
  const took_s = (performance.now() - began) / 1000;
  await watched(instance, () => exported(instance, project, 'user_contributions'));
  return [
    plainRow(
      `export of ${leaving.toLocaleString('en')} issues`,
      `${Math.round(answer.total_objects_count / took_s)}/s`,
      '≥ 20000/s',
    ),
    plainRow('memory above idle while they leave', mebibytes(most_bytes - idle_bytes), '≤ 100 MB'),
  ];
}

interface Counts {
  imported: number;
}

/** Starts the migration of a group or project. @returns its id */
async function started(from: Instance, to: Instance, entity: Record<string, string>): Promise<number> {
  const configuration = { url: from.url, access_token: token };
  const { status, body } = await to.api.post('/bulk_imports', { configuration, entities: [entity] });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

const projectEntity = (source_full_path: string, destination_slug: string) => ({
  ...{ source_type: 'project_entity', source_full_path, destination_slug, destination_namespace: 'arrived' },
});

const finished = ({ api }: Instance, id: number): Promise<true> =>
  answered(async () => {
    const { status } = (await api.get(`/bulk_imports/${id}`)).body;
    if (status === 'failed') throw new Error('the migration has failed');
    return status === 'finished' || undefined;
  });

/** Migrates a project. @returns how long each relation took from its first to its last record, and the most memory */
async function migrated(from: Instance, to: Instance, source_full_path: string) {
  const id = await started(from, to, projectEntity(source_full_path, 'copy'));
  const seen = new Map<string, { began: number; before: number; ended: number; imported: number }>();
  const { most_bytes } = await watched(to, async () => {
    const [state] = (await to.api.get(`/bulk_imports/${id}/entities`)).body;
    const now = performance.now();
    for (const [relation, { imported }] of Object.entries(state.stats as Record<string, Counts>)) {
      if (imported === 0) continue;
      const known = seen.get(relation);
      if (!known) seen.set(relation, { began: now, before: imported, ended: now, imported });
      else if (imported > known.imported) seen.set(relation, { ...known, ended: now, imported });
    }
    if (state.status === 'failed') throw new Error(JSON.stringify(state.failures));
    return state.status === 'finished' || undefined;
  });
  return { seen, most_bytes };
}

async function importing(from: Instance, to: Instance, source: string): Promise<Row[]> {
  await to.api.post('/groups', { name: 'arrived', path: 'arrived' });
  const idle_bytes = await to.allocated_bytes();
  const { seen, most_bytes } = await migrated(from, to, source);
  const rateOf = (relation: string) => {
    const { began, before, ended, imported } = seen.get(relation)!;
    return `${Math.round((imported - before) / ((ended - began) / 1000))}/s`;
  };
  return [
    plainRow(
      `import of ${arriving.issues.toLocaleString('en')} issues with three notes each`,
      rateOf('issues'),
      '≥ 2000/s',
    ),
    plainRow(
      `import of ${arriving.merge_requests.toLocaleString('en')} merge requests`,
      rateOf('merge_requests'),
      '≥ 100/s',
    ),
    plainRow('memory above idle while they arrive', mebibytes(most_bytes - idle_bytes), '≤ 150 MB'),
  ];
}

/** A whole group, beside a plain copy of its repositories and rows. */
async function wholeGroup(from: Instance, to: Instance, planted: Planted, folder: string): Promise<Row> {
  const entity = {
    source_type: 'group_entity',
    source_full_path: 'planted',
    destination_slug: 'planted',
    destination_namespace: '',
  };
  const migrated_ms = await timeOf(async () => finished(to, await started(from, to, entity)));
  const copied_ms = await timeOf(() => copyPlainly(from, to, planted, folder));
  const operation = `group of ${planted.size} projects, beside clones and COPY of its rows`;
  return timesRow(operation, measuredFrom([migrated_ms]), measuredFrom([copied_ms]), '≤ 3×');
}

/** How long 95 of 100 requests take on either side during a migration, beside none. */
async function besideMigration(from: Instance, to: Instance, source: string): Promise<Row[]> {
  const sides = [from, to];
  const seeds = [await seeded(from.api), await seeded(to.api)];
  const loaded = async (side: number) => {
    const answers = await sendSteadily(seeds[side]!, sides[side]!.url, rate, seconds);
    const failed = answers.filter(({ status }) => status < 200 || status >= 300).length;
    if (failed > 0) throw new Error(`${failed} of ${answers.length} requests have failed`);
    return answers.map(({ waited_ms }) => waited_ms);
  };
  const idle: number[][] = [];
  for (const side of [0, 1]) {
    await loaded(side);
    idle.push(await loaded(side));
  }
  const rows: Row[] = [];
  for (const [side, name] of ['source', 'destination'].entries()) {
    const migration = await started(from, to, projectEntity(source, `beside-${name}`));
    await setTimeout(1500);
    const busy = await loaded(side);
    await finished(to, migration);
    const [idle_ms, busy_ms] = [p95_ms(idle[side]!), p95_ms(busy)];
    rows.push({
      ...plainRow(`P95 of ${rate} requests a second at the ${name}`, ms(busy_ms), '≤ 2×', measuredFrom(busy)),
      limit: ms(idle_ms),
      ratio: `${(busy_ms / idle_ms).toFixed(2)}×`,
    });
  }
  return rows;
}

/** Exports and migrations between two instances of the product on one machine. */
export async function measureMigration(folder: string): Promise<Row[]> {
  const from = await startInstance(path.join(folder, 'migration-source'));
  const to = await startInstance(path.join(folder, 'migration-destination'));
  try {
    await to.api.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true });
    const [large, used] = [await projectOf(from, 'large'), await projectOf(from, 'used')];
    const { body: head } = await from.api.get(`/projects/${used}/repository/commits/main`);
    const { issues: count, merge_requests } = arriving;
    const planted = await plantGroup(from, folder);
    const inGroup = [...planted.values()].map((id) => issues(id, count / 2 / planted.size, 3));
    const alone = issues(large, leaving, 0) + issues(used, count, 3) + mergeRequests(used, merge_requests, head.id);
    await fill(from, tables, alone + inGroup.join(''));
    return [
      ...(await exporting(from, large)),
      ...(await importing(from, to, 'root/used')),
      await wholeGroup(from, to, planted, folder),
      ...(await besideMigration(from, to, 'root/used')),
    ];
  } finally {
    await from.stop();
    await to.stop();
  }
}
