/** What a push may not forget: the large files that its pointers stand for. */
import type { Project } from '../../access/index.ts';
import { newBlobs, type Push, type Repository } from '../../git/index.ts';
import type { Services } from '../../http/index.ts';
import { isLfsEnabled, objectsOf } from './queries.ts';
import { pointerIn, pointerLimit_bytes } from './rules.ts';

const missing = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';

/** A push that brings more small files than this, or takes longer to search, is not searched to its end: its client looks after its objects itself. */
const searched = 20_000;
const longestSearch_ms = 10_000;

/**
 * Why a push would leave pointers without their objects in a project; empty when it does not.
 * @param repository of the project
 */
export async function missingObjects(
  { db }: Pick<Services, 'db'>,
  project: Pick<Project, 'id'>,
  repository: Repository,
  { updates, quarantine }: Pick<Push, 'updates' | 'quarantine'>,
): Promise<string[]> {
  const targets = updates.flatMap((update) => update.new ?? []);
  if (targets.length === 0 || !(await isLfsEnabled(db, project.id))) return [];
  const contents = await newBlobs(repository, {
    targets,
    env: quarantine,
    smaller_than_bytes: pointerLimit_bytes,
    limit: searched,
    timeout_ms: longestSearch_ms,
  });
  const oids = new Set(contents.flatMap((content) => pointerIn(content)?.oid ?? []));
  if (oids.size === 0) return [];
  const known = await objectsOf(db, project.id, [...oids]);
  return known.length < oids.size ? [missing] : [];
}
