/** Sample events, by which hooks are tested. The areas that record events give them. */
import type { RawBuilder } from 'kysely';
import type { Services } from '../../../http/index.ts';

/** For what is sampled: a project, and the user who asks. */
export interface SampleAsk {
  project_id: number;
  user_id: number;
}

/**
 * Makes the facts of an event from the newest data of a project.
 * @returns an expression of type `json`, which is null when there is none; undefined when there is none
 */
export type Sample = (services: Pick<Services, 'db' | 'storages'>, asked: SampleAsk) => Promise<RawBuilder<unknown> | undefined>;

/** The samples by trigger. */
export interface Samples {
  push_events: Sample;
  tag_push_events: Sample;
  issues_events: Sample;
  note_events: Sample;
  merge_requests_events: Sample;
  emoji_events: Sample;
  milestone_events: Sample;
  wiki_page_events: Sample;
  resource_access_token_events: Sample;
  error_events: Sample;
  vulnerability_events: Sample;
}
