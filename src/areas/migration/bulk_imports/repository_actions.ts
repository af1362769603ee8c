/** Filling the repository of a project from a bundle. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { tarEntries } from '../../../archives/index.ts';
import { allRefs, fetchBundle, GitError, listBranches, repositoryOf, setHead } from '../../../git/index.ts';
import { scanSoon } from '../../code/dependencies/index.ts';
import { beforeAll, maintainSoon, projectRepositories, recordRefsIn } from '../../code/repository/index.ts';
import { exportedFile, exportOf, isExport, unpackedLimit } from './export_queries.ts';
import { inStep, record } from './journal_actions.ts';
import { ownerOf, type Step, type StepCall, StepFailed } from './step_definition.ts';

const timeout_ms = 6 * 3600_000;

/** Unpacks the bundle of an archive. @returns its file, or undefined for a repository without commits */
async function bundleOf(call: StepCall, archive: string): Promise<string | undefined> {
  const limits = { most_bytes: await unpackedLimit(call), isWanted: (name: string) => name === 'repository.bundle' };
  for await (const entry of tarEntries(createReadStream(archive), limits)) {
    if ('problem' in entry) continue;
    const file = `${archive}.bundle`;
    await pipeline(Readable.from(entry.content), createWriteStream(file, { mode: 0o600 }));
    return file;
  }
  return undefined;
}

async function fill(call: StepCall, bundle: string): Promise<void> {
  const { db, step, entity, signal } = call;
  const { id } = ownerOf(entity);
  const project = await db
    .selectFrom('projects')
    .select(['id', 'storage', 'default_branch', 'namespace_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const repository = repositoryOf(call, project);
  const { skipped } = await fetchBundle(bundle, repository, { timeout_ms, signal });
  const filled = Array.from(await allRefs(repository), ([ref, to]) => ({ ref, new: to }));
  const names = (await listBranches(repository)).map(({ name }) => name);
  const default_branch = names.includes(project.default_branch) ? project.default_branch : (names[0] ?? project.default_branch);
  await setHead(repository, default_branch);
  await inStep(db, step.id, async (tx, row) => {
    const columns = { empty_repo: names.length === 0, default_branch, last_activity_at: sql<string>`now()` };
    await tx.updateTable('projects').set(columns).where('id', '=', id).execute();
    await recordRefsIn(tx, 'recorded_refs', id, { moved: filled, update_id: beforeAll });
    await scanSoon(tx, id);
    await maintainSoon(tx, projectRepositories, id, 0);
    const message = `${skipped} refs have names, or point to objects, that are not allowed here.`;
    const left = {
      relation: 'repository',
      step: 'loader' as const,
      exception_class: 'InvalidRecord',
      message,
      title: null,
      url: null,
    };
    await record(tx, call, row, { counts: { repository: { fetched: 1, imported: 1 } }, failures: skipped > 0 ? [left] : [] });
  });
}

export const repositoryStep: Step = {
  name: 'repository',
  async run(call) {
    const exported = await exportOf(call, 'repository');
    if (!isExport(exported)) return exported;
    const archive = await exportedFile(call, 'repository', exported, 1);
    const bundle = await bundleOf(call, archive);
    try {
      if (bundle !== undefined) await fill(call, bundle);
      return 'finished';
    } catch (error) {
      if (call.signal.aborted || !(error instanceof GitError)) throw error;
      call.log.error({ err: error }, 'the repository of a migration cannot be read');
      throw new StepFailed('InvalidContent', 'The repository cannot be read.', 'extractor');
    } finally {
      if (bundle !== undefined) await rm(bundle, { force: true });
    }
  },
};
