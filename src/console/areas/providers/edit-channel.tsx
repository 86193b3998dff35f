import { useTranslation } from "react-i18next";
import { useOperationMutation, useOperationQuery } from "../../api/queries.ts";
import { Form } from "../../ui/forms/form.tsx";
import { useViewForm } from "../../ui/forms/view-form.ts";
import { showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { ChannelFields } from "./channel-form.tsx";
import {
  changeOf,
  fieldsOf,
  valuesOf,
  type ListedChannel,
  type ChannelValues,
  type ProviderView,
} from "./channel-values.ts";
import { TestConnection } from "./test-connection.tsx";

/** Changes a channel of the database. The user can test a change before saving it. */
export function EditChannel({ channel }: { channel: ListedChannel }) {
  const { t } = useTranslation("providers");
  const query = useOperationQuery("providers.list", {});
  return (
    <Card title={t("edit")}>
      <QueryState query={query}>
        {({ data }) => {
          const provider = data.find(({ name }) => name === channel.provider);
          return provider && <EditForm channel={channel} provider={provider} />;
        }}
      </QueryState>
    </Card>
  );
}

function EditForm({ channel, provider }: { channel: ListedChannel; provider: ProviderView }) {
  const { t } = useTranslation("providers");
  const { id, version } = channel;
  const fields = fieldsOf(provider);
  const form = useViewForm<ChannelValues>(valuesOf(channel, fields));
  const update = useOperationMutation("channels.update", ["channels", "models", "routes"]);
  const submit = async (values: ChannelValues) => {
    const change = changeOf(values, channel, fields);
    await update.mutateAsync({ id, ...change, ...(version !== null && { version }) });
    showToast(t("form.saved", { id }));
  };
  return (
    <div className="max-w-2xl">
      <Form form={form} onSubmit={submit} subject={{ kind: "channel", id, version }}>
        <ChannelFields provider={provider} present={channel} />
        <TestConnection read={() => ({ id, ...changeOf(form.getValues(), channel, fields) })} />
      </Form>
    </div>
  );
}
