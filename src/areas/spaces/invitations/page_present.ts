/** What the pages of invitations say. */
import type { HtmlPage, HtmlPart } from '../../../http/index.ts';
import type { Outcome } from './acceptance_actions.ts';
import { factsOf, type OpenInvitation } from './queries.ts';

/** For a link that opens nothing, whatever the reason. */
export const gonePage: HtmlPage = {
  title: 'Page not found',
  parts: ['There is no such invitation. It may have been answered, taken back, or have ended.'],
};

/**
 * What somebody is invited to, with the ways to answer.
 * @param action the path of the page
 * @param withSignUp whether he may make an account
 */
export function invitationPage(
  invitation: OpenInvitation,
  { action, withSignUp }: { action: string; withSignUp: boolean },
): HtmlPage {
  const { inviter, place, invite_email } = invitation;
  const signUp: HtmlPart[] = [
    `Without an account you can make one. Its address is ${invite_email}.`,
    {
      button: 'Make an account and accept',
      action: `${action}/sign_up`,
      inputs: [
        { name: 'username', label: 'Username', type: 'text', autocomplete: 'username' },
        { name: 'name', label: 'Name', type: 'text', autocomplete: 'name' },
        { name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password' },
      ],
    },
  ];
  return {
    title: `Invitation to ${place}`,
    parts: [
      inviter === null
        ? `${invite_email} is invited to join ${place}.`
        : `${inviter} has invited ${invite_email} to join ${place}.`,
      factsOf(invitation),
      `With an account for which ${invite_email} is confirmed you can accept at once.`,
      {
        button: 'Sign in and accept',
        action: `${action}/accept`,
        inputs: [
          { name: 'login', label: 'Username or address', type: 'text', autocomplete: 'username' },
          { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' },
        ],
      },
      ...(withSignUp ? signUp : []),
      { button: 'Decline', action: `${action}/decline` },
    ],
  };
}

/** For an account that is not known to be that of the invited address. */
export const foreignPage = ({ invite_email }: OpenInvitation): HtmlPage => ({
  title: 'Invitation not accepted',
  parts: [
    `This invitation is for ${invite_email}, which is not a confirmed address of your account.`,
    `Add ${invite_email} to your account and confirm it: with that the invitation is accepted.`,
  ],
});

const outcomes: Record<Outcome, { title: string; text: (place: string) => string }> = {
  joined: { title: 'Invitation accepted', text: (place) => `You are a member of ${place} now.` },
  known: { title: 'Already a member', text: (place) => `You have access to ${place} already. It stays as it was.` },
  queued: {
    title: 'Invitation accepted',
    text: (place) => `An administrator of the server decides now whether you get access to ${place}.`,
  },
  'no seat': {
    title: 'Invitation not accepted',
    text: (place) => `The server has no seat left. Ask an owner of ${place}; the invitation stays open until then.`,
  },
  locked: {
    title: 'Invitation not accepted',
    text: (place) => `${place} takes no new members at the moment. The invitation stays open.`,
  },
};

/** What became of an invitation that somebody has accepted. */
export const outcomePage = ({ place }: OpenInvitation, outcome: Outcome): HtmlPage => ({
  title: outcomes[outcome].title,
  parts: [outcomes[outcome].text(place)],
});

/** For who has declined. */
export const declinedPage = ({ place, inviter }: OpenInvitation): HtmlPage => ({
  title: 'Invitation declined',
  parts: [inviter === null ? `You do not join ${place}.` : `You do not join ${place}. ${inviter} is told.`],
});

/** @param back the path of the page of the invitation */
export const refusalPage = (reason: string, back: string): HtmlPage => ({
  title: 'Invitation not accepted',
  parts: [reason, { link: 'Back to the invitation', url: back }],
});
