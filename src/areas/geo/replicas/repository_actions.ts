/** Copies of repositories on a secondary (docs/reference/geo.md#copies). */
import {
  fsck,
  hasConfig,
  maintain,
  mirrorRepository,
  placeOf,
  type Repository,
  refsChecksum,
  removeMirror,
} from '../../../git/index.ts';
import type { JobServices, Owner, RepositoryKind } from '../../../services/index.ts';
import { kindOf } from './checking_actions.ts';
import type { RepositoryReplicable } from './definition.ts';
import { throughPassage } from './passage_actions.ts';
import type { Copied, StartedReplica } from './queue_actions.ts';

/** The state recorded by the primary. */
export interface Expected {
  checksum: string;
  head: string | null;
  size_bytes: number | null;
}

const maximumFetch_ms = 6 * 60 * 60_000;

/** The copy of the repository of an owner. */
const copyOf = (
  { storages }: Pick<JobServices, 'storages'>,
  { folder }: RepositoryKind,
  { id, storage }: Owner,
): Repository => ({
  path: placeOf({ storages }, { id, storage, folder }),
});

/** Removes the copies of a repository from all storages except one. */
export async function removeRepository(
  services: Pick<JobServices, 'storages' | 'repositories'>,
  replicable: RepositoryReplicable,
  id: number,
  kept?: Repository,
): Promise<void> {
  const kind = kindOf(services, replicable);
  for (const storage of Object.keys(services.storages)) {
    const copy = copyOf(services, kind, { id, storage });
    if (copy.path !== kept?.path) await removeMirror(copy);
  }
}

/** Whether the copy has the expected refs; their objects are not checked. */
export async function hasRefs(
  services: Pick<JobServices, 'db' | 'storages' | 'repositories'>,
  replicable: RepositoryReplicable,
  id: number,
  checksum: string,
): Promise<boolean> {
  const kind = kindOf(services, replicable);
  const owner = await kind.find(services.db, id);
  const copy = owner && copyOf(services, kind, owner);
  return (
    copy !== undefined && (await hasConfig(copy)) && (await refsChecksum(copy).catch(() => undefined)) === checksum
  );
}

/** The name of the kind in paths. */
const addressOf = (replicable: RepositoryReplicable, id: number): string =>
  `/repositories/${replicable.replace('_repositories', '')}/${id}`;

/**
 * Updates the copy of a repository to match the primary's.
 * @throws MirrorDiffers, GitError, PrimaryRefused, OutboundError and errors of the file system; then the copy is as it
 * was
 */
export async function copyRepositoryHere(
  services: JobServices,
  replica: StartedReplica & { replicable: RepositoryReplicable },
  expected: Expected,
  signal: AbortSignal,
): Promise<Copied> {
  const { replicable, record, is_damaged } = replica;
  const kind = kindOf(services, replicable);
  const owner = await kind.find(services.db, Number(record));
  if (!owner) throw new Error('its row is gone');
  const copy = copyOf(services, kind, owner);
  const target = {
    checksum: expected.checksum,
    head: expected.head ?? 'main',
    objectFormat: await kind.objectFormat(services.db, owner.id),
    anew: is_damaged || !(await hasConfig(copy)),
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(maximumFetch_ms)]);
  const source = addressOf(replicable, owner.id);
  await throughPassage(services, source, limit, (from) => mirrorRepository(from, copy, target, limit));
  await maintain(copy);
  await removeRepository(services, replicable, owner.id, copy);
  return { checksum: expected.checksum, size_bytes: null };
}

/**
 * The damage of a copy.
 * @param checksum the expected checksum of its refs, if they are to be compared
 * @returns undefined if it is intact, or if there is no copy
 */
export async function damageOfRepository(
  services: Pick<JobServices, 'db' | 'storages' | 'repositories'>,
  replicable: RepositoryReplicable,
  id: number,
  checksum?: string,
): Promise<string | undefined> {
  const kind = kindOf(services, replicable);
  const owner = await kind.find(services.db, id);
  if (!owner) return undefined;
  const copy = copyOf(services, kind, owner);
  if (!(await hasConfig(copy))) return checksum === undefined ? undefined : 'The copy is missing.';
  const now = await refsChecksum(copy).catch(() => undefined);
  if (checksum !== undefined && now !== checksum)
    return `The copy has the checksum ${now ?? 'of nothing'} and not ${checksum}.`;
  const [problem] = await fsck(copy);
  return problem === undefined ? undefined : `The copy is damaged: ${problem}`;
}
