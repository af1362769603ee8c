/** All experiments there are, in the order of their names. Each is a file of this folder that is named after it. */
import { invitation_mail_preview } from './invitation_mail_preview.ts';

export const definitions = [invitation_mail_preview];
