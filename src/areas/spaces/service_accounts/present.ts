/** How service accounts appear in responses. */
import { type Static, Type } from 'typebox';
import { Id, nullable, optional, resource } from '../../../http/index.ts';

export const ServiceAccount = resource('ServiceAccount', {
  id: Id,
  username: Type.String(),
  name: Type.String(),
  email: Type.String(),
  public_email: nullable(Type.String()),
  unconfirmed_email: optional(Type.String({ description: 'Address that replaces `email` when it is confirmed' })),
});

export interface ServiceAccountRow {
  id: number;
  username: string;
  name: string;
  email: string;
  public_email: string;
  unconfirmed_email: string | null;
}

/** @param account a row of `accountsIn` */
export const presentServiceAccount = ({
  unconfirmed_email,
  public_email,
  ...account
}: ServiceAccountRow): Static<typeof ServiceAccount> => ({
  ...account,
  public_email: public_email || null,
  ...(unconfirmed_email === null ? {} : { unconfirmed_email }),
});
