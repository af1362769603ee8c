/** How triggers appear in replies (docs/reference/triggers.md). */
import { type Static, Type } from 'typebox';
import { type Caller, Id, nullable, resource, type Services, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow } from '../../people/users/index.ts';
import { tokenPurpose } from './queries.ts';

export const PipelineTrigger = resource('PipelineTrigger', {
  id: Id,
  description: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_used: nullable(Timestamp),
  token: nullable(
    Type.String({
      description: 'Whole for its owner, otherwise the first four characters; null where it cannot be decrypted',
    }),
  ),
  owner: UserBasic,
  expires_at: Type.Null(),
});

export interface TriggerRow {
  id: number;
  description: string;
  created_at: string;
  updated_at: string;
  last_used: string | null;
  token: Buffer;
  owner: UserBasicRow;
}

/** What others than the owner see of a token. */
const shownLength = 4;

export function presentTrigger(
  { url, secrets, caller }: Pick<Services, 'url' | 'secrets'> & { caller: Caller },
  { token: sealed, owner, ...row }: TriggerRow,
): Static<typeof PipelineTrigger> {
  const token = secrets.unseal(tokenPurpose, sealed) ?? null;
  return {
    ...row,
    token: owner.id === caller.id ? token : (token?.slice(0, shownLength) ?? null),
    owner: presentUserBasic(url, owner),
    expires_at: null,
  };
}
