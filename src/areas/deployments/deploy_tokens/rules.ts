/** Validation of deploy tokens: the reasons for refusing a value, empty if it is valid. */
import { tooLong } from '../../../texts/index.ts';

/** The scopes of deploy tokens. Registry scopes are stored, but have no effect. */
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
