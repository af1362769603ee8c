/** Wiki pages in lists of events. */
import { sql } from 'kysely';
import { isUsable } from '../../../access/index.ts';
import type { EventTarget } from '../../activity/events/index.ts';

export const eventWikiPages: EventTarget = {
  types: ['WikiPage::Meta'],
  isVisible: (caller) => isUsable(caller, 'wiki'),
  title: sql`(select wiki_pages.title from wiki_pages where wiki_pages.id = events.target_id)`,
  wiki_page: sql`(
    select jsonb_build_object('format', format, 'slug', slug, 'title', wiki_pages.title, 'wiki_page_meta_id', wiki_pages.id)
      from wiki_pages where wiki_pages.id = events.target_id)`,
};
