/** Award emoji: what people react with to issues, epics and notes. `thumbsup` and `thumbsdown` are votes (labels-milestones-iterations-epics.md section 5). */
import { type TProperties, Type } from 'typebox';
import {
  type AnyEndpoint,
  alsoUnder,
  checkUnmodified,
  del,
  found,
  get,
  Id,
  notFound,
  nothing,
  one,
  pageOf,
  paginate,
  paging,
  post,
  unauthorized,
} from '../../../http/index.ts';
import { addAward } from './actions.ts';
import { epicParents, issueParents, type Kind, targetOf } from './parents.ts';
import { AwardEmoji, presentAward } from './present.ts';
import { awardRows } from './queries.ts';

/** The input of a path: with the note that it names, if it does. */
type OfNote = { note_id?: number };

/**
 * The routes of one place.
 * @param path where the reactions are
 * @param thing what they are to, for the documentation
 * @param named the parameter of the path that names a note, if it does
 */
const routesAt = (path: string, thing: string, { visible, reader }: Kind, named: TProperties) => [
  get(path, {
    summary: `List the reactions to ${thing}, oldest first`,
    access: visible,
    input: { ...named, ...paging },
    returns: pageOf(AwardEmoji),
    handle: async ({ db, url, caller, parent, input }) => {
      const { awardable } = await targetOf(db, { caller, parent }, (input as OfNote).note_id);
      const { items, ...page } = await paginate(db, awardRows(db, awardable).orderBy('award_emoji.id'), input);
      return { ...page, items: items.map((row) => presentAward(url, row)) };
    },
  }),
  get(`${path}/:award_id`, {
    summary: `Show a reaction to ${thing}`,
    access: visible,
    input: { ...named, award_id: Id },
    returns: one(AwardEmoji),
    handle: async ({ db, url, caller, parent, input }) => {
      const { awardable } = await targetOf(db, { caller, parent }, (input as OfNote).note_id);
      const row = await awardRows(db, awardable).where('award_emoji.id', '=', input.award_id).executeTakeFirst();
      return presentAward(url, found(undefined, row));
    },
  }),
  post(path, {
    summary: `React to ${thing}; a vote takes the place of the opposite one`,
    access: reader,
    input: { ...named, name: Type.String({ description: 'Of an emoji, without colons' }) },
    returns: one(AwardEmoji),
    handle: async ({ db, url, caller, parent, input }) => {
      const { awardable, is_open } = await targetOf(db, { caller, parent }, (input as OfNote).note_id);
      if (!is_open) throw notFound('Award Emoji');
      const added = await db.transaction().execute((tx) => addAward(tx, awardable, caller.id, input.name));
      if (typeof added === 'string') throw notFound(`Award Emoji Name ${added}`);
      return presentAward(url, await awardRows(db, awardable).where('award_emoji.id', '=', added).executeTakeFirstOrThrow());
    },
  }),
  del(`${path}/:award_id`, {
    summary: `Take back a reaction to ${thing}; administrators may take back those of others`,
    access: reader,
    input: { ...named, award_id: Id },
    returns: nothing,
    handle: async ({ db, caller, parent, input, unmodified_since }) => {
      const { awardable } = await targetOf(db, { caller, parent }, (input as OfNote).note_id);
      const row = await awardRows(db, awardable).where('award_emoji.id', '=', input.award_id).executeTakeFirst();
      const award = found(undefined, row);
      if (award.user_id !== caller.id && !caller.admin) throw unauthorized();
      checkUnmodified(award.updated_at, unmodified_since);
      await db.deleteFrom('award_emoji').where('id', '=', award.id).execute();
    },
  }),
];

const routesOn = (kind: Kind, thing: string): AnyEndpoint[] => [
  ...routesAt(`${kind.path}/award_emoji`, thing, kind, {}),
  ...routesAt(`${kind.path}/notes/:note_id/award_emoji`, `a note on ${thing}`, kind, { note_id: Id }),
];

const ofEpics = routesOn(epicParents, 'an epic').map((endpoint): AnyEndpoint => ({ ...endpoint, plan: 'ultimate' }));

export const awardEmojiRoutes = [...routesOn(issueParents, 'an issue'), ...alsoUnder('/epics', '/-/epics', ofEpics)];
