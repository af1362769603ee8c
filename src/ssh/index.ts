/** The SSH protocol: a server with our own commands, and a client. `server.ts` loads ssh2, which takes 3 MB: processes import it when the port is on. */
export { runOverSsh, SshRefused } from './client.ts';
export { privateKeyText, publicKeyText } from './host_key.ts';
export type { SshCommand, SshServer, SshServerOptions } from './server.ts';
