/** Dependencies: from a push to the list, the list itself, and the import of advisories. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { advisoriesImport } from '../src/commands/advisories_import.ts';
import { readConfig } from '../src/config.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, startInstance } from './instance.ts';
import { load, measuredFrom, timeOf } from './measure.ts';
import { plainRow, type Row } from './table.ts';

const pushed = Number(process.env.BENCH_LOCK_ENTRIES ?? 10_000);
const pushes = 7;
const listed = Number(process.env.BENCH_DEPENDENCIES ?? 100_000);
const advisories = Number(process.env.BENCH_ADVISORIES ?? 100_000);
const projects = Number(process.env.BENCH_DEPENDENT_PROJECTS ?? 1_000);
const each = 1_000;

const seconds = (time_ms: number) => `${(time_ms / 1000).toFixed(2)} s`;

/** A file of npm whose packages no other has. */
const lock = (entries: number, name: string) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(
      Array.from({ length: entries }, (_, index) => [
        `node_modules/${name}-${index}`,
        { version: `1.${index % 50}.0`, license: 'MIT' },
      ]),
    ),
  });

/** Pushes a lock file to a new project, and asks until it is listed. */
async function pushOnce({ api }: Instance, name: string): Promise<number> {
  const { body: project } = await api.post('/projects', { name, initialize_with_readme: true });
  const file = { branch: 'main', commit_message: 'Add a lock file', content: lock(pushed, name) };
  return timeOf(async () => {
    await api.post(`/projects/${project.id}/repository/files/package-lock.json`, file);
    for (;;) {
      const { headers } = await api.get(`/projects/${project.id}/dependencies`, { per_page: 1 });
      if (Number(headers.get('x-total')) === Math.min(pushed, 10_000)) return;
      // A client that asks without a pause would take the processor from what it waits for.
      await setTimeout(20);
    }
  });
}

async function measurePush(instance: Instance): Promise<Row> {
  await pushOnce(instance, 'warm-up');
  const taken_ms: number[] = [];
  for (let turn = 0; turn < pushes; turn++) taken_ms.push(await pushOnce(instance, `push-${turn}`));
  const measured = measuredFrom(taken_ms);
  const operation = `push of ${pushed.toLocaleString('en')} dependencies until they are listed`;
  return plainRow(operation, seconds(measured.p50_ms), '≤ 1 s', measured);
}

/** Adds dependencies to a project as a file of npm would, of which every fourth is of Cargo. */
async function addDependencies(client: pg.Client, project_ids: readonly number[], count: number): Promise<void> {
  await client.query(
    `insert into package_versions (ecosystem, advised_name, version)
     select 'npm', 'package-' || place, '1.' || place % 50 || '.0' from generate_series(1, $1) place on conflict do nothing`,
    [count],
  );
  await client.query(
    `with files as (
       insert into dependency_files (project_id, path, blob_id, reader_version, package_manager, count)
       select id, 'seed/package-lock.json', repeat('0', 40), 1, 'npm', $2 from unnest($1::bigint[]) id returning id, project_id)
     insert into dependencies (project_id, file_id, digest, package_version_id, name, version, package_manager, path, development, licenses)
     select project_id, files.id, gen_random_uuid(), package_versions.id, advised_name, version,
            case when place % 4 = 0 then 'cargo' else 'npm' end, 'seed/package-lock.json', false, '{MIT}'
       from files, generate_series(1, $2) place
       join package_versions on ecosystem = 'npm' and advised_name = 'package-' || place and version = '1.' || place % 50 || '.0'`,
    [project_ids, count],
  );
  await client.query('analyze dependencies, package_versions');
}

async function measureLists(instance: Instance, client: pg.Client): Promise<Row[]> {
  const { body: project } = await instance.api.post('/projects', { name: 'listed' });
  await addDependencies(client, [project.id], listed);
  const url = `/api/v4/projects/${project.id}/dependencies`;
  const headers = { 'private-token': instance.api.token! };
  const asked = { headers, connections: 1 };
  const all = await load(instance, [url], asked);
  const some = await load(instance, [`${url}?package_manager=cargo`], asked);
  const of = `20 of ${listed.toLocaleString('en')} dependencies`;
  return [
    plainRow(of, `${all.p50_ms.toFixed(1)} ms`, '≤ 15 ms'),
    plainRow(`${of}, of one manager`, `${some.p50_ms.toFixed(1)} ms`, '≤ 15 ms'),
  ];
}

/** Records about the packages above, of which each is fixed in some version. */
async function writeRecords(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let index = 0; index < advisories; index++) {
    const events = [{ introduced: '0' }, { fixed: `1.${index % 60}.0` }];
    const record = {
      id: `BENCH-${index}`,
      modified: '2026-01-01T00:00:00Z',
      summary: `Something is wrong with package-${index}`,
      details: 'x'.repeat(1_000),
      affected: [{ package: { ecosystem: 'npm', name: `package-${index}` }, ranges: [{ type: 'SEMVER', events }] }],
    };
    await writeFile(path.join(folder, `${index}.json`), JSON.stringify(record));
  }
}

async function measureImport(instance: Instance, client: pg.Client): Promise<Row[]> {
  const given = { text: {}, switches: {}, lists: {}, operand: path.join(instance.data, '../records') };
  await writeRecords(given.operand);
  const config = readConfig({ COPPICE_DATA: instance.data });
  const import_ms = await timeOf(() => advisoriesImport.run(given, config));
  const { rows } = await client.query<{ id: number }>(
    `insert into projects (namespace_id, name, path, full_path, creator_id, default_branch)
     select namespace_id, 'seed-' || place, 'seed-' || place, full_path || '-' || place, creator_id, default_branch
       from (select * from projects where path = 'listed') project, generate_series(1, $1) place returning id`,
    [projects],
  );
  await addDependencies(
    client,
    rows.map(({ id }) => Number(id)),
    each,
  );
  await client.query('update package_versions set is_matched = false');
  const rematch_ms = await timeOf(() => advisoriesImport.run(given, config));
  return [
    plainRow(`import of ${advisories.toLocaleString('en')} advisories`, seconds(import_ms), '≤ 60 s'),
    plainRow(
      `import again, with ${projects.toLocaleString('en')} projects of ${each.toLocaleString('en')} dependencies compared`,
      seconds(rematch_ms),
      '≤ 60 s',
    ),
  ];
}

/** @param folder for the data of the instance */
export async function measureDependencies(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'dependencies'));
  const { connectionString, stop } = await startEmbedded(instance.data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return [
      await measurePush(instance),
      ...(await measureLists(instance, client)),
      ...(await measureImport(instance, client)),
    ];
  } finally {
    await client.end();
    await stop();
    await instance.stop();
  }
}
