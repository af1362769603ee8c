/** Errors of applications in lists of events. */
import { sql } from 'kysely';
import { isMemberOfProject, levels } from '../../../../access/index.ts';
import type { EventTarget } from '../../../activity/events/index.ts';

export const eventErrors: EventTarget = {
  types: ['TrackedError'],
  // The Reporter role is required to read them.
  isVisible: (caller) => sql`
  (${caller?.admin ? sql`true` : isMemberOfProject(caller, levels.reporter)} and coalesce((
    select errors.project_id = events.project_id from error_tracking_errors errors where errors.id = events.target_id), false))`,
  title: sql`(select texts.name from error_tracking_error_texts texts where texts.error_id = events.target_id)`,
};
