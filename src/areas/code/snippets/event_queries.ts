/** Snippets in lists of events. */
import { sql } from 'kysely';
import { isMemberOfProject, isUsable } from '../../../access/index.ts';
import type { EventTarget } from '../../activity/events/index.ts';

export const eventSnippets: EventTarget = {
  types: ['Snippet'],
  isVisible: (caller) => sql`
  (${isUsable(caller, 'snippets')} and coalesce((
    select snippets.visibility = 'public' or ${caller && !caller.external ? sql`snippets.visibility = 'internal'` : sql`false`}
           or ${caller?.admin ? sql`true` : isMemberOfProject(caller, 1)}
      from snippets where snippets.id = events.target_id), false))`,
  title: sql`(select snippets.title from snippets where snippets.id = events.target_id)`,
};
