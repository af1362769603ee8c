/** Filling the repository of a project from a bundle, or over HTTP. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { tarEntries } from '../../../../archives/index.ts';
import {
  type FetchedRefs,
  fetchBundle,
  GitError,
  listBranches,
  type Repository,
  repositoryOf,
  setHead,
} from '../../../../git/index.ts';
import { scanSoon } from '../../../code/dependencies/index.ts';
import {
  beforeAll,
  maintainSoon,
  projectRepositories,
  readmePathOf,
  recordRefsIn,
} from '../../../code/repository/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { type Exported, exportedFile, exportOf, isExport, unpackedLimit } from '../source/export_queries.ts';
import { ask, isRecord, pathAtSource } from '../source/queries.ts';
import { ownerOf, type Step, type StepCall, StepFailed } from '../step_definition.ts';
import { fetchFromSource, maximumFetch_ms, repositoryAt, skippedRefs } from './git_actions.ts';

/** Unpacks the bundle of an archive. @returns its file, or undefined for a repository without commits */
async function bundleOf(call: StepCall, archive: string): Promise<string | undefined> {
  const limits = { most_bytes: await unpackedLimit(call), isWanted: (name: string) => name === 'repository.bundle' };
  for await (const entry of tarEntries(createReadStream(archive), limits)) {
    if ('problem' in entry)
      throw new StepFailed(
        'InvalidContent',
        `The archive has an entry that is refused: ${entry.problem}.`,
        'extractor',
      );
    const file = `${archive}.bundle`;
    await pipeline(Readable.from(entry.content), createWriteStream(file, { mode: 0o600 }));
    return file;
  }
  return undefined;
}

/** @param fetch fills the repository, which has no refs or was partly filled by an earlier run */
async function fill(call: StepCall, fetch: (repository: Repository) => Promise<FetchedRefs>): Promise<void> {
  const { db, step, entity } = call;
  const { id } = ownerOf(entity);
  const project = await db
    .selectFrom('projects')
    .select(['id', 'storage', 'default_branch', 'namespace_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const repository = repositoryOf(call, project);
  const { refs, skipped } = await fetch(repository);
  const filled = Array.from(refs, ([ref, to]) => ({ ref, new: to }));
  const names = (await listBranches(repository)).map(({ name }) => name);
  const default_branch = names.includes(project.default_branch)
    ? project.default_branch
    : (names[0] ?? project.default_branch);
  await setHead(repository, default_branch);
  const readme_path = await readmePathOf(repository, default_branch);
  await inStep(db, step.id, async (tx, row) => {
    const columns = {
      empty_repo: names.length === 0,
      default_branch,
      readme_path,
      last_activity_at: sql<string>`now()`,
    };
    await tx.updateTable('projects').set(columns).where('id', '=', id).execute();
    await recordRefsIn(tx, 'recorded_refs', id, { moved: filled, update_id: beforeAll });
    await scanSoon(tx, id);
    await maintainSoon(tx, projectRepositories, id, 0);
    const counts = { repository: { fetched: 1, imported: 1 } };
    await record(tx, call, row, { source: 1, counts, failures: skippedRefs('repository', skipped) });
  });
}

async function fillFromArchive(call: StepCall, exported: Exported): Promise<void> {
  const { signal } = call;
  const bundle = await bundleOf(call, await exportedFile(call, 'repository', exported, 1));
  if (bundle === undefined) return;
  try {
    await fill(call, (repository) => fetchBundle(bundle, repository, { timeout_ms: maximumFetch_ms, signal }));
  } catch (error) {
    if (signal.aborted || !(error instanceof GitError)) throw error;
    call.log.error({ err: error }, 'the repository of a migration cannot be read');
    throw new StepFailed('InvalidContent', 'The repository cannot be read.', 'extractor');
  } finally {
    await rm(bundle, { force: true });
  }
}

/** Fetches the repository over HTTP from a source that does not export repositories. */
async function fillOverHttp(call: StepCall): Promise<void> {
  const { value } = await ask(call.source, pathAtSource(call.entity));
  if (isRecord(value) && value.empty_repo === true) return;
  await fill(call, (repository) => fetchFromSource(call, repositoryAt(call), repository));
}

export const repositoryStep: Step = {
  name: 'repository',
  async run(call) {
    // Commits pushed here since then are not overwritten.
    if (call.step.counts.repository) return 'finished';
    const exported = await exportOf(call, 'repository');
    if (isExport(exported)) await fillFromArchive(call, exported);
    else if (exported === 'skipped') await fillOverHttp(call);
    else return exported;
    return 'finished';
  },
};
