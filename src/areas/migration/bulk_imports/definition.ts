/** The types of migrations by direct transfer (docs/reference/bulk_imports.md). */
import type { Selectable } from 'kysely';
import type { DB } from '../../../db/index.ts';

/** The states of migrations and of their entities. */
export const states = ['created', 'started', 'finished', 'timeout', 'failed', 'canceled'] as const;
export type State = (typeof states)[number];

/** The states of migrations and entities that have not ended. */
export const running: readonly State[] = ['created', 'started'];

export const entityTypes = ['group', 'project'] as const;
export type EntityType = (typeof entityTypes)[number];

export type MigrationRow = Omit<Selectable<DB['bulk_imports']>, 'state'> & { state: State };

/** An entity as a request names it. */
export interface NewEntity {
  entity_type: EntityType;
  source_full_path: string;
  destination_namespace: string;
  destination_slug: string;
  migrate_projects: boolean;
  migrate_memberships: boolean;
}

/** The full path at which an entity will be created. */
export const destinationOf = ({
  destination_namespace,
  destination_slug,
}: Pick<NewEntity, 'destination_namespace' | 'destination_slug'>): string =>
  destination_namespace === '' ? destination_slug : `${destination_namespace}/${destination_slug}`;
