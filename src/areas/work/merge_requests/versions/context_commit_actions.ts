/** Context commits: commits of the target project that a merge request builds upon (docs/reference/merge_requests.md#commits). */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { type Commit, keepAroundRef, readCommit, repositoryOf, resolveCommit } from '../../../../git/index.ts';
import { badRequest, type Services } from '../../../../http/index.ts';
import { keepRefs } from '../../../code/repository/index.ts';
import { contextTexts } from '../rules.ts';

/** The most in one request, and per merge request. */
const [most_at_once, most] = [20, 100];

type Places = Pick<Services, 'storages'>;

/**
 * The commits of a project with these ids, without duplicates.
 * @param shas full or short ids
 * @throws ApiError 400 for too many of them, and if one is unknown
 */
export async function commitsNamed(services: Places, project: Project, shas: readonly string[]): Promise<Commit[]> {
  if (shas.length > most_at_once) throw badRequest(contextTexts.many);
  const repository = repositoryOf(services, project);
  const areIds = shas.length > 0 && shas.every((sha) => /^[0-9a-f]{7,64}$/i.test(sha));
  const ids = areIds ? await Promise.all(shas.map((sha) => resolveCommit(repository, sha))) : [undefined];
  const known = ids.filter((id) => id !== undefined);
  if (known.length < ids.length) throw badRequest(contextTexts.unknown);
  return Promise.all([...new Set(known)].map((id) => readCommit(repository, id)));
}

/** The context commits of a merge request, newest first. */
export async function contextCommits(
  services: Pick<Services, 'db' | 'storages'>,
  project: Project,
  merge_request_id: number,
): Promise<Commit[]> {
  const rows = await services.db
    .selectFrom('merge_request_context_commits')
    .select('sha')
    .where('merge_request_id', '=', merge_request_id)
    .limit(most)
    .execute();
  const repository = repositoryOf(services, project);
  const commits = await Promise.all(rows.map(({ sha }) => readCommit(repository, sha)));
  return commits.toSorted(
    (a, b) => Date.parse(b.committed_date) - Date.parse(a.committed_date) || (a.id < b.id ? -1 : 1),
  );
}

/**
 * Adds context commits, and keeps them in the repository.
 * @throws ApiError 400 if there would be too many
 */
export async function addContextCommits(
  services: Pick<Services, 'db' | 'storages'>,
  project: Project,
  merge_request_id: number,
  commits: readonly Commit[],
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    await keepRefs(tx, services, project, new Map(commits.map(({ id }) => [keepAroundRef(id), id])));
    // Locked, so that two concurrent requests cannot exceed the limit together.
    await tx
      .selectFrom('merge_requests')
      .select('id')
      .where('id', '=', merge_request_id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    const values = commits.map(({ id: sha }) => ({ merge_request_id, sha }));
    await tx
      .insertInto('merge_request_context_commits')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { count } = await tx
      .selectFrom('merge_request_context_commits')
      .select((q) => q.fn.countAll<number>().as('count'))
      .where('merge_request_id', '=', merge_request_id)
      .executeTakeFirstOrThrow();
    if (Number(count) > most) throw badRequest(contextTexts.full);
  });
}

/** Removes context commits. Unknown ones are ignored. */
export async function removeContextCommits(
  db: Database,
  merge_request_id: number,
  commits: readonly Pick<Commit, 'id'>[],
): Promise<void> {
  const shas = ofAnyLength(
    commits.map(({ id }) => id),
    'text[]',
  );
  await sql`delete from merge_request_context_commits where merge_request_id = ${merge_request_id} and sha = any(${shas})`.execute(
    db,
  );
}
