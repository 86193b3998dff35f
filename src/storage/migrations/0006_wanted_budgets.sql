-- Every process looks four times a second which budgets others need money of: few, however many budgets there are.
CREATE INDEX budgets_by_wanted ON budgets (wanted_until);
