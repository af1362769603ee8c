/** How service accounts appear in replies (specification part 1, section 2.5; the last three members as today's public servers send them). */
import { type Static, Type } from 'typebox';
import { Id, nullable, optional, resource } from '../../../http/index.ts';

export const ServiceAccount = resource('ServiceAccount', {
  id: Id,
  username: Type.String(),
  name: Type.String(),
  email: Type.String(),
  public_email: nullable(Type.String()),
  unconfirmed_email: optional(Type.String({ description: 'The address that takes the place of `email` when it is confirmed' })),
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
