/** What may be given for a deploy token: reasons why it is refused, empty when it is fine. */
import { tooLong } from '../../../texts/index.ts';

/** The scopes of deploy tokens. Those of registries are stored, and do nothing here. */
export const deployScopes = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'read_package_registry',
  'write_package_registry',
] as const;

const maximumLength = 255;

export const nameReasons = (name: string): string[] => tooLong(name, maximumLength);

export const usernameReasons = (username: string): string[] => [
  ...tooLong(username, maximumLength),
  ...(/^[\w.+-]*$/.test(username) ? [] : ["can contain only letters, digits, '_', '-', '+', and '.'"]),
];
