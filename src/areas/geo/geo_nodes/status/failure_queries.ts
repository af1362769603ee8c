/** Projects whose repository or wiki this secondary could not copy or verify (docs/reference/geo.md#failures). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import type { Database } from '../../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../../http/index.ts';

const Text = nullable(Type.String());
const Time = nullable(Timestamp);
const Count = nullable(Type.Integer());

export const GeoFailure = resource('GeoFailure', {
  project_id: Id,
  last_repository_synced_at: Time,
  last_repository_successful_sync_at: Time,
  last_wiki_synced_at: Time,
  last_wiki_successful_sync_at: Time,
  repository_retry_count: Count,
  wiki_retry_count: Count,
  last_repository_sync_failure: Text,
  last_wiki_sync_failure: Text,
  last_repository_verification_failure: Text,
  last_wiki_verification_failure: Text,
  repository_verification_checksum_sha: Text,
  wiki_verification_checksum_sha: Text,
  repository_checksum_mismatch: Type.Boolean(),
  wiki_checksum_mismatch: Type.Boolean(),
});

export const copyTypes = ['repository', 'wiki'] as const;
type CopyType = (typeof copyTypes)[number];

export const failureTypes = ['sync', 'checksum_mismatch', 'verification'] as const;
type FailureType = (typeof failureTypes)[number];

/** Whether verification found that a copy differs from the primary's undamaged original; null without a copy. */
const isMismatch = (type: CopyType): RawBuilder<boolean | null> =>
  sql`${sql.ref(`${type}.verification_state`)} = 'failed' and ${sql.ref(`${type}.checksum`)} <> ${sql.ref(`${type}_checksum.checksum`)}
      and ${sql.ref(`${type}_checksum.failure`)} is null`;

const isShownAsMismatch = (type: CopyType): RawBuilder<boolean> => sql<boolean>`coalesce(${isMismatch(type)}, false)`;

function hasFailed(type: CopyType, failure: FailureType): RawBuilder<boolean> {
  if (failure === 'checksum_mismatch') return sql<boolean>`${isMismatch(type)}`;
  return sql<boolean>`${sql.ref(failure === 'sync' ? `${type}.state` : `${type}.verification_state`)} = 'failed'`;
}

/** The projects with failures of a type, by id. */
export const failuresOf = (db: Database, wanted: { type: CopyType; failure_type: FailureType }) =>
  db
    .selectFrom('projects')
    .leftJoin('wikis', 'wikis.project_id', 'projects.id')
    .leftJoin('geo_replicas as repository', (join) =>
      join
        .on('repository.replicable', '=', 'project_repositories')
        .on('repository.record', '=', sql<string>`projects.id::text`),
    )
    .leftJoin('geo_replicas as wiki', (join) =>
      join.on('wiki.replicable', '=', 'project_wiki_repositories').on('wiki.record', '=', sql<string>`wikis.id::text`),
    )
    .leftJoin('geo_checksums as repository_checksum', (join) =>
      join
        .onRef('repository_checksum.replicable', '=', 'repository.replicable')
        .onRef('repository_checksum.record', '=', 'repository.record'),
    )
    .leftJoin('geo_checksums as wiki_checksum', (join) =>
      join.onRef('wiki_checksum.replicable', '=', 'wiki.replicable').onRef('wiki_checksum.record', '=', 'wiki.record'),
    )
    .select('projects.id as project_id')
    .select(['repository.last_synced_at as last_repository_synced_at', 'wiki.last_synced_at as last_wiki_synced_at'])
    .select('repository.last_successful_sync_at as last_repository_successful_sync_at')
    .select('wiki.last_successful_sync_at as last_wiki_successful_sync_at')
    .select(['repository.retry_count as repository_retry_count', 'wiki.retry_count as wiki_retry_count'])
    .select([
      'repository.last_sync_failure as last_repository_sync_failure',
      'wiki.last_sync_failure as last_wiki_sync_failure',
    ])
    .select('repository.last_verification_failure as last_repository_verification_failure')
    .select('wiki.last_verification_failure as last_wiki_verification_failure')
    .select('repository.checksum as repository_verification_checksum_sha')
    .select('wiki.checksum as wiki_verification_checksum_sha')
    .select(isShownAsMismatch('repository').as('repository_checksum_mismatch'))
    .select(isShownAsMismatch('wiki').as('wiki_checksum_mismatch'))
    .where(hasFailed(wanted.type, wanted.failure_type))
    .orderBy('projects.id');
