/** Where others learn how to check ID tokens (docs/reference/id_tokens.md#checking-a-token). */
import type { FastifyReply } from 'fastify';
import { type Caller, type DoorCall, type Doorway, door, jsonForm } from '../../../http/index.ts';
import { algorithm, publishedKeys } from '../../instance/signing_keys/index.ts';

type Call = DoorCall<Caller, Record<string, never>>;

const keysPath = '/oauth/discovery/keys';

const json = ({ reply }: Call, body: object): FastifyReply =>
  reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)));

const sendKeys = async (call: Call): Promise<FastifyReply> =>
  json(call, { keys: await publishedKeys(call.services.db) });

const sendConfiguration = (call: Call): FastifyReply =>
  json(call, {
    issuer: call.services.url,
    jwks_uri: `${call.services.url}${keysPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'],
  });

export const idTokenDoorway: Doorway = {
  cost: 'usual',
  doors: [
    door<Caller, Record<string, never>>({ method: 'GET', url: keysPath, is_text: true, handle: sendKeys }),
    door<Caller, Record<string, never>>({
      method: 'GET',
      url: '/.well-known/openid-configuration',
      is_text: true,
      handle: sendConfiguration,
    }),
  ],
  errors: () => jsonForm,
};
