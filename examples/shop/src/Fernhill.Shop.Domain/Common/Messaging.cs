using System.Threading;
using System.Threading.Tasks;

namespace Fernhill.Shop
{
    namespace Domain.Messaging
    {
        /// <summary>A message that expects exactly one answer.</summary>
        public interface IRequest<out TResponse>
        {
        }

        /// <summary>A message about something that has happened; nobody, one or many may listen.</summary>
        public interface INotification
        {
            /// <summary>When it happened, in UTC.</summary>
            DateTimeOffset OccurredAt { get; }
        }

        /// <summary>Answers requests of one type.</summary>
        public interface IRequestHandler<in TRequest, TResponse>
            where TRequest : IRequest<TResponse>
        {
            Task<TResponse> HandleAsync(TRequest request, CancellationToken cancellationToken);
        }

        /// <summary>Reacts to notifications of one type, inside the process that published them.</summary>
        public interface INotificationHandler<in TNotification>
            where TNotification : INotification
        {
            Task HandleAsync(TNotification notification, CancellationToken cancellationToken);
        }

        /// <summary>Consumes messages of one type from the broker, at least once.</summary>
        public interface IConsumer<in TMessage>
        {
            Task ConsumeAsync(TMessage message, CancellationToken cancellationToken);
        }

        /// <summary>Publishes messages; the outbox delivers them after the transaction has committed.</summary>
        public interface IMessageBus
        {
            Task PublishAsync<TMessage>(TMessage message, CancellationToken cancellationToken = default)
                where TMessage : class, INotification;
        }

        /// <summary>The rest of the pipeline, as a behaviour around a handler sees it.</summary>
        public delegate Task<TResponse> RequestPipeline<TResponse>(CancellationToken cancellationToken);
    }
}
