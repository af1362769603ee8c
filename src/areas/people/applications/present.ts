/** How applications are shown. */
import { type Static, Type } from 'typebox';
import { Id, resource } from '../../../http/index.ts';

const shown = {
  id: Id,
  application_id: Type.String({ description: 'The `client_id` of requests' }),
  application_name: Type.String(),
  callback_url: Type.String({ description: 'The addresses that people may be sent back to, one a line' }),
  confidential: Type.Boolean({ description: 'Whether it can keep its secret' }),
  scopes: Type.Array(Type.String()),
};

export const Application = resource('Application', shown);

export const NewApplication = resource('NewApplication', {
  ...shown,
  secret: Type.String({ description: 'Shown only here' }),
});

export interface ApplicationRow {
  id: number;
  uid: string;
  name: string;
  redirect_uri: string;
  confidential: boolean;
  scopes: string[];
}

export const present = ({
  id,
  uid,
  name,
  redirect_uri,
  confidential,
  scopes,
}: ApplicationRow): Static<typeof Application> => ({
  id,
  application_id: uid,
  application_name: name,
  callback_url: redirect_uri,
  confidential,
  scopes,
});

/** An application with its secret. */
export const withSecret = ({
  row,
  secret,
}: {
  row: ApplicationRow;
  secret: string;
}): Static<typeof NewApplication> => ({
  ...present(row),
  secret,
});
