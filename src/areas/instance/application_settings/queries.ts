/** Reading settings. Each read queries the database, so changes take effect at once in every process. */
import type { Selectable } from 'kysely';
import type { VisibilityName } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { allowedVisibility, storageByWeight, weightsOf } from './rules.ts';

export type Settings = Omit<
  Selectable<DB['application_settings']>,
  'repository_storages_weighted' | `default_${'project' | 'group' | 'snippet'}_visibility`
> & {
  repository_storages_weighted: Record<string, number>;
  default_project_visibility: VisibilityName;
  default_group_visibility: VisibilityName;
  default_snippet_visibility: VisibilityName;
};

/** All current settings: one row, by its key. */
export const settingsOf = (db: Database): Promise<Settings> =>
  db.selectFrom('application_settings').selectAll().where('id', '=', 1).$castTo<Settings>().executeTakeFirstOrThrow();

/**
 * Why a caller cannot choose a visibility, empty if they can.
 * @param visibility omitted if none was chosen
 */
export async function restrictionReasons(
  db: Database,
  caller: { admin: boolean },
  visibility: VisibilityName | undefined,
): Promise<string[]> {
  if (visibility === undefined || caller.admin) return [];
  const { restricted_visibility_levels } = await settingsOf(db);
  return restricted_visibility_levels.includes(visibility)
    ? [`${visibility} has been restricted by your administrator`]
    : [];
}

/** The visibility of something created without an explicit one. */
export function defaultVisibility(
  settings: Settings,
  of: 'project' | 'group' | 'snippet',
  creator: { admin: boolean },
): VisibilityName {
  const wanted = settings[`default_${of}_visibility`];
  return creator.admin ? wanted : allowedVisibility(wanted, settings.restricted_visibility_levels);
}

/**
 * Chooses storages by their weights.
 * @param left the name of a storage that is chosen only if no other has a weight
 * @returns a function that returns the name of a storage on each call
 */
export async function storageChooser(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  left?: string,
): Promise<() => string> {
  const names = Object.keys(storages);
  if (names.length === 1) return () => names[0]!;
  const weights = weightsOf((await settingsOf(db)).repository_storages_weighted, names);
  const others = Object.fromEntries(Object.entries(weights).filter(([name]) => name !== left));
  const chosen = Object.values(others).some((weight) => weight > 0) ? others : weights;
  return () => storageByWeight(chosen, Math.random());
}

/** The name of the storage for the next repository. */
export const storageForNew = async (services: Pick<Services, 'db' | 'storages'>): Promise<string> =>
  (await storageChooser(services))();
