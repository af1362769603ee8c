/** Why somebody was not made a member, and how that is said. */
import { levels } from '../../../access/index.ts';
import { sentenceOf } from '../../../http/index.ts';
import type { Actor } from './rules.ts';

/**
 * Why somebody was not added: he is there already, he may not be touched, an administrator decides first, the licence has no seat left for him, or reasons by
 * field.
 */
export type Refusal = 'exists' | 'protected' | 'queued' | 'no seat' | Record<string, string[]>;

/** What is said of those on whom an administrator decides. */
export const queuedText = 'Request queued for administrator approval.';

/** What is said when the licence has not enough seats; owners know whom to ask. */
export const noSeatsText = ({ access_level }: Pick<Actor, 'access_level'>): string =>
  `There are not enough available seats to invite this many users.${
    access_level >= levels.owner ? '' : ' Ask a user with the Owner role to purchase more seats.'
  }`;

/** The sentence for a refusal. */
export function refusalText(refusal: Refusal, actor: Actor): string {
  if (refusal === 'queued') return queuedText;
  if (refusal === 'no seat') return noSeatsText(actor);
  return typeof refusal === 'string' ? 'not authorized to update member' : sentenceOf(refusal);
}

/** Refusals by user, those who wait for an administrator apart, as texts by username. */
export function textsOf(refusals: ReadonlyMap<number, Refusal>, names: ReadonlyMap<number, string>, actor: Actor) {
  const texts = (queued: boolean) =>
    [...refusals]
      .filter(([, refusal]) => (refusal === 'queued') === queued)
      .map(([id, refusal]): [name: string, text: string] => [names.get(id)!, refusalText(refusal, actor)]);
  return { refused: texts(false), queued: texts(true) };
}
