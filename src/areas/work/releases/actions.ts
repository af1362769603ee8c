/** Complete changes to releases. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import { type Database, isAmong, isUniqueViolation, stamped } from '../../../db/index.ts';
import { isValidTagName, repositoryOf, resolveCommit, resolveTag } from '../../../git/index.ts';
import {
  ApiError,
  badRequest,
  type Caller,
  conflict,
  forbidden,
  type Services,
  unprocessable,
} from '../../../http/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';
import { tagProtectionFor } from '../../code/protected_tags/index.ts';
import { createTag } from '../../code/repository/index.ts';
import { collectEvidence } from './evidence_actions.ts';
import { tellOfReleases } from './hook_actions.ts';
import { milestoneIds, type WantedMilestones } from './milestone_queries.ts';
import { type LinkFields, linksReason } from './rules.ts';

interface Changing {
  project: Project;
  caller: Caller;
}

export interface NewRelease extends WantedMilestones {
  tag: string;
  name: string;
  description: string | null;
  ref: string | undefined;
  tag_message: string;
  released_at: string | undefined;
  links: readonly LinkFields[];
}

export type ReleaseChanges = WantedMilestones & {
  name?: string | undefined;
  description?: string | null | undefined;
  released_at?: string | undefined;
};

export const protectedText = 'You are not allowed to create this tag as it is protected.';
export const existsText = 'Release already exists';
export const goneText = 'The tag was deleted in the meantime';

/** The commit of a release's tag. */
const commitOf = (services: Services, project: Project, tag: string) =>
  resolveCommit(repositoryOf(services, project), `refs/tags/${tag}`);

/** Adds webhook events for a release. */
export async function tellOfRelease(
  tx: Database,
  services: Services,
  project: Project,
  action: 'create' | 'update' | 'delete',
  tag: string,
): Promise<void> {
  const commit_id = await commitOf(services, project, tag);
  await tellOfReleases(tx, action, project.id, [{ tag, commit_id }]);
}

/** @throws ApiError 403 if the caller may not create the tag of the release that they change */
export async function refuseProtected(db: Database, project: Project, tag: string): Promise<void> {
  const { is_protected, may_create } = (await tagProtectionFor(db, project))(tag);
  if (is_protected && !may_create) throw forbidden();
}

const releaseExists = async (db: Database, project_id: number, tag: string): Promise<boolean> =>
  (await db
    .selectFrom('releases')
    .select('id')
    .where('project_id', '=', project_id)
    .where('tag', '=', tag)
    .executeTakeFirst()) !== undefined;

/** Creates the tag if it does not exist. A tag created concurrently by another request is accepted. */
async function ensureTag(services: Services, { project, caller }: Changing, asked: NewRelease): Promise<void> {
  const { tag, ref, tag_message } = asked;
  const repository = repositoryOf(services, project);
  if ((await resolveTag(repository, tag)) !== undefined) return;
  if (ref === undefined) throw unprocessable('Ref is not specified');
  try {
    await createTag(services, { project, caller, name: tag, ref, message: tag_message });
  } catch (error) {
    if (!(error instanceof ApiError) || (await resolveTag(repository, tag)) === undefined) throw error;
  }
}

/**
 * Prepares a release, and creates its tag if missing. All checks run before the tag is created, so that a refused release leaves no tag.
 * @returns what stores it in a transaction
 * @throws ApiError 400, 403, 409, 422 with the texts of docs/reference/releases.md
 */
export async function prepareRelease(
  services: Services,
  changing: Changing,
  asked: NewRelease,
): Promise<(tx: Database) => Promise<void>> {
  const { project, caller } = changing;
  const { db } = services;
  const { tag } = asked;
  if (!isValidTagName(tag)) throw badRequest('Tag name invalid');
  const reason = linksReason(asked.links);
  if (reason !== undefined) throw badRequest(`Validation failed: Links ${reason}`);
  const { is_protected, may_create } = (await tagProtectionFor(db, project))(tag);
  if (is_protected && !may_create) throw new ApiError(403, { message: protectedText });
  const milestone_ids = await milestoneIds(db, project.id, asked);
  if (await releaseExists(db, project.id, tag)) throw conflict(existsText);
  await ensureTag(services, changing, asked);
  return async (tx) => {
    await holdTag(tx, services, project, tag);
    const release_id = await insertRelease(tx, project.id, caller.id, asked);
    await insertLinks(tx, release_id, asked.links);
    if (milestone_ids !== undefined) await setMilestones(tx, release_id, milestone_ids);
    if (asked.released_at === undefined) await collectEvidence(tx, release_id);
    await tellOfRelease(tx, services, project, 'create', tag);
    const news = {
      event: 'new_release',
      target_type: 'Release',
      target_id: release_id,
      actor_id: caller.id,
      user_ids: [],
    };
    await addNotification(tx, news);
  };
}

/**
 * Creates a release, and its tag if missing.
 * @throws ApiError as `prepareRelease`, and 409 if the release or the deletion of the tag came first
 */
export async function createRelease(services: Services, changing: Changing, asked: NewRelease): Promise<void> {
  await services.db.transaction().execute(await prepareRelease(services, changing, asked));
}

/**
 * Protects the tag until the transaction ends: its deletion waits for the row lock, and then sees the release.
 * @throws ApiError 409 if it is gone
 */
async function holdTag(tx: Database, services: Services, project: Project, tag: string): Promise<void> {
  await tx
    .selectFrom('recorded_refs')
    .select('target')
    .where('project_id', '=', project.id)
    .where('ref', '=', `refs/tags/${tag}`)
    .forKeyShare()
    .execute();
  if ((await resolveTag(repositoryOf(services, project), tag)) === undefined) throw conflict(goneText);
}

async function insertRelease(
  tx: Database,
  project_id: number,
  author_id: number,
  { tag, name, description, released_at }: NewRelease,
): Promise<number> {
  const added = await tx
    .insertInto('releases')
    .values({
      ...{ project_id, tag, name, description, author_id },
      ...(released_at === undefined
        ? {}
        : { released_at, evidence_due: sql<boolean>`${released_at}::timestamptz > now()` }),
    })
    .onConflict((conflicts) => conflicts.columns(['project_id', 'tag']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw conflict(existsText);
  return added.id;
}

async function insertLinks(tx: Database, release_id: number, links: readonly LinkFields[]): Promise<void> {
  if (links.length === 0) return;
  await tx
    .insertInto('release_links')
    .values(links.map((link) => ({ release_id, ...link })))
    .execute();
}

/** Milestones that were deleted meanwhile are skipped. */
async function setMilestones(tx: Database, release_id: number, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom('release_milestones').where('release_id', '=', release_id).execute();
  if (ids.length === 0) return;
  await tx
    .insertInto('release_milestones')
    .columns(['release_id', 'milestone_id'])
    .expression((q) =>
      q
        .selectFrom('milestones')
        .select([sql<number>`${release_id}::bigint`.as('release_id'), 'id'])
        .where(isAmong('id', ids, 'bigint[]'))
        .forKeyShare(),
    )
    .execute();
}

/**
 * Changes a release.
 * @throws ApiError 400 for unknown milestones
 */
export async function changeRelease(
  services: Services,
  project: Project,
  { id, tag }: { id: number; tag: string },
  { name, description, released_at, ...wanted }: ReleaseChanges,
): Promise<void> {
  const { db } = services;
  const milestone_ids = await milestoneIds(db, project.id, wanted);
  const isDue = sql<boolean>`${released_at ?? null}::timestamptz > now() and not exists (select from release_evidences where release_id = releases.id)`;
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('releases')
      .set(
        stamped({
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(released_at === undefined ? {} : { released_at, evidence_due: isDue }),
        }),
      )
      .where('id', '=', id)
      .execute();
    if (milestone_ids !== undefined) await setMilestones(tx, id, milestone_ids);
    await tellOfRelease(tx, services, project, 'update', tag);
  });
}

/** Deletes a release. Its tag stays. */
export async function removeRelease(services: Services, project: Project, tag: string): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    await tellOfRelease(tx, services, project, 'delete', tag);
    await tx.deleteFrom('releases').where('project_id', '=', project.id).where('tag', '=', tag).execute();
  });
}

const takenReasons: Readonly<Record<string, string>> = {
  release_links_name_key: 'Name has already been taken',
  release_links_url_key: 'Url has already been taken',
  release_links_filepath_key: 'Filepath has already been taken',
};

/** The refusals of links whose name, URL or path is used by another link of the release. */
export const takenTexts = Object.values(takenReasons);

/** Runs a change of links. @throws ApiError 400 if it duplicates a value of another link */
export async function refusingTaken<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    const taken = Object.keys(takenReasons).find((constraint) => isUniqueViolation(error, constraint));
    throw taken === undefined ? error : new ApiError(400, { message: [takenReasons[taken]!] });
  }
}
