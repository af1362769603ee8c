/** Values of access tokens: random, shown once, stored only as a digest. */
import { hash, randomBytes } from 'node:crypto';

/** Every scope that a personal access token can have. */
export const tokenScopes = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'sudo',
  'admin_mode',
  'create_runner',
  'manage_runner',
  'ai_features',
  'k8s_proxy',
  'read_service_ping',
  'self_rotate',
  'read_virtual_registry',
  'write_virtual_registry',
] as const;

/**
 * A new value, with 192 random bits.
 * @param prefix identifies tokens for secret scanners; an application setting
 */
export const newTokenValue = (prefix: string) => `${prefix}${randomBytes(24).toString('base64url')}`;

/** The digest that the database stores. The value is random, so a plain hash is enough. */
export const tokenDigest = (value: string): Buffer => hash('sha256', value, 'buffer');
