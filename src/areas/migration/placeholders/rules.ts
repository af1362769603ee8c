/** Where people are asked whether placeholders are theirs. */

/** The page with the proposals of the visitor. */
export const proposalsPage = '/-/user_settings/placeholder_proposals';
