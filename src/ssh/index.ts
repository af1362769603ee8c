/** The SSH protocol: a server with our own commands. */
export { privateKeyText } from './host_key.ts';
export { type SshCommand, type SshServer, type SshServerOptions, sshServer } from './server.ts';
