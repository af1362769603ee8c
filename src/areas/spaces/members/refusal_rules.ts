/** Reasons why a user was not added as a member, and their texts. */
import { levels } from '../../../access/index.ts';
import { sentenceOf } from '../../../http/index.ts';
import { type Actor, lastOwnerText, type Protection } from './rules.ts';

/**
 * Why a user was not added: they are already a member, they may not be changed, they are the last owner, they need an approval, no seat of the license is left, or reasons by parameter.
 */
export type Refusal = 'exists' | Protection | 'queued' | 'no seat' | Record<string, string[]>;

/** The text for users who need an approval. */
export const queuedText = 'Request queued for administrator approval.';

/** The text for a license without enough seats. Only owners can buy more, so others are advised to ask an owner. */
export const noSeatsText = ({ access_level }: Pick<Actor, 'access_level'>): string =>
  `There are not enough available seats to invite this many users.${
    access_level >= levels.owner ? '' : ' Ask a user with the Owner role to purchase more seats.'
  }`;

/** The text of a refusal. */
export function refusalText(refusal: Refusal, actor: Actor): string {
  if (refusal === 'queued') return queuedText;
  if (refusal === 'last owner') return lastOwnerText;
  if (refusal === 'no seat') return noSeatsText(actor);
  return typeof refusal === 'string' ? 'not authorized to update member' : sentenceOf(refusal);
}

/** The texts of refusals by username, with queued users apart. */
export function textsOf(refusals: ReadonlyMap<number, Refusal>, names: ReadonlyMap<number, string>, actor: Actor) {
  const texts = (queued: boolean) =>
    [...refusals]
      .filter(([, refusal]) => (refusal === 'queued') === queued)
      .map(([id, refusal]): [name: string, text: string] => [names.get(id)!, refusalText(refusal, actor)]);
  return { refused: texts(false), queued: texts(true) };
}
