/** Activity events: what users did in projects. */
import { type TSchema, Type } from 'typebox';
import { anyone, type MaybeCaller, projectVisible, signedIn } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  get,
  IdOrName,
  optional,
  type Page,
  type Paging,
  pageAsked,
  pageOf,
  paging,
  type Services,
} from '../../../http/index.ts';
import { userIdNamed } from '../../people/users/index.ts';
import { eventFilters, eventRules, filtered } from './filters.ts';
import { type EventReply, eventForm, presentEvent } from './present.ts';
import { allEvents, type CommentedOn, type EventQuery, eventRows, isOfMembership } from './queries.ts';
import { type Subject, sightWith, visiblePage, visibleTotal } from './visibility_queries.ts';

/** What the lists of events show of comments. Their own area, which this one does not import, provides it. */
export interface EventComments extends CommentedOn {
  schema: TSchema;
  /** The replies for these ids. */
  present(services: Pick<Services, 'db' | 'url'>, ids: readonly number[]): Promise<ReadonlyMap<number, unknown>>;
}

const isComment = (target_type: string | null) => target_type?.endsWith('Note') ?? false;

/** Whether a user hides their activity from the caller. */
async function isPrivate({ db }: Pick<Services, 'db'>, caller: MaybeCaller, user_id: number): Promise<boolean> {
  if (caller?.admin || caller?.id === user_id) return false;
  const user = await db.selectFrom('users').select('private_profile').where('id', '=', user_id).executeTakeFirstOrThrow();
  return user.private_profile;
}

/** @param comments from the area of notes */
export function eventRoutes(comments: EventComments): AnyEndpoint[] {
  const returns = pageOf(eventForm(comments.schema));
  const input = { ...eventFilters, ...paging };
  const [sight, rowsOf] = [sightWith(comments.isVisible), eventRows(comments)];

  async function pageOfEvents(
    { db, url, caller }: Pick<Services, 'db' | 'url'> & { caller: MaybeCaller },
    all: EventQuery,
    given: Parameters<typeof filtered>[2] & Paging,
  ): Promise<Page<EventReply>> {
    const wanted = await filtered(db, all, given);
    const sees = (subjects: readonly Subject[]) => sight(db, caller, subjects);
    const { page, per_page, offset } = pageAsked(given);
    const found = await visiblePage(wanted, sees, { per_page, offset });
    const [items, total] = await Promise.all([
      found.ids.length > 0 ? rowsOf(db, { ids: found.ids }) : [],
      visibleTotal(wanted, sees, given, found),
    ]);
    const ids = items.flatMap(({ target_type, target_id }) => (isComment(target_type) && target_id !== null ? [target_id] : []));
    const notes = ids.length > 0 ? await comments.present({ db, url }, ids) : new Map<number, unknown>();
    const noteOf = ({ target_type, target_id }: (typeof items)[number]) =>
      isComment(target_type) ? notes.get(target_id!) : undefined;
    return { page, per_page, has_more: found.has_more, ...total, items: items.map((row) => presentEvent(url, row, noteOf(row))) };
  }

  return [
    get('/events', {
      operation: 'listOwnEvents',
      summary: "List the caller's events, newest first",
      access: signedIn,
      scopes: ['read_user'],
      input: {
        ...input,
        scope: optional(
          Type.String({ description: '`all`: the events of everyone in the projects that the caller is a member of' }),
        ),
      },
      rules: eventRules,
      returns,
      handle: ({ db, url, caller, input }) => {
        const all = allEvents(db);
        const own = input.scope === 'all' ? all.where(isOfMembership(caller)) : all.where('events.author_id', '=', caller.id);
        return pageOfEvents({ db, url, caller }, own, input);
      },
    }),
    get('/users/:id/events', {
      operation: 'listUserEvents',
      summary: "List a user's events, newest first",
      description: 'The list of a user with a private profile is empty for everyone but them and administrators.',
      access: anyone,
      scopes: ['read_user'],
      input: { id: IdOrName('ID or username'), ...input },
      rules: eventRules,
      returns,
      refusals: { 404: '404 User Not Found' },
      handle: async ({ db, url, caller, input }) => {
        const user_id = await userIdNamed(db, input.id);
        const own = allEvents(db).where('events.author_id', '=', user_id);
        const shown = (await isPrivate({ db }, caller, user_id)) ? own.where('events.id', 'is', null) : own;
        return pageOfEvents({ db, url, caller }, shown, input);
      },
    }),
    get('/projects/:id/events', {
      operation: 'listProjectEvents',
      summary: 'List the events of a project, newest first',
      access: projectVisible,
      input,
      rules: eventRules,
      returns,
      handle: ({ db, url, caller, project, input }) => {
        const inside = allEvents(db).where('events.project_id', '=', project.id);
        return pageOfEvents({ db, url, caller }, inside, input);
      },
    }),
  ];
}
