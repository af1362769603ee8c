/** Whose jobs the runners of the instance take (docs/reference/runners.md#whose-jobs). */
import { type RawBuilder, sql } from 'kysely';

const aboveProject = sql`
  namespaces place join namespaces above on above.id = any(place.traversal_ids) where place.id = projects.namespace_id`;

/** A predicate on rows of `projects`: a group above lets no project decide for itself that runners of the instance take its jobs. */
export const isClosedToInstanceRunners: RawBuilder<boolean> = sql<boolean>`
  exists (select from ${aboveProject} and above.shared_runners_setting = 'disabled_and_unoverridable')`;

/** A predicate on rows of `projects`: runners of the instance may take its jobs. */
export const takesInstanceRunners: RawBuilder<boolean> = sql<boolean>`
  (select coalesce(projects.shared_runners_enabled, bool_and(above.shared_runners_setting = 'enabled'))
      and bool_and(above.shared_runners_setting <> 'disabled_and_unoverridable')
     from ${aboveProject})`;
